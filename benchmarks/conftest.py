import pytest


@pytest.fixture
def timed(benchmark, request):
    """Run a job under the clock as often as its module says, and once before if that is more than once."""
    named, target = request.module.JOBS[request.node.name.removeprefix("test_")]
    benchmark.extra_info |= {"job": named, "target": target}

    def run(job, rounds=request.module.ROUNDS, warm_up=None):
        return benchmark.pedantic(job, rounds=rounds, warmup_rounds=int(rounds > 1 if warm_up is None else warm_up))

    return run
