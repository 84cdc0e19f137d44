import pytest


@pytest.fixture
def timed(benchmark, request):
    """Run the job that `pytest.mark.job` names under the clock, as often as its module says.

    If that is more than once, it runs once before.
    """
    named, target = request.node.get_closest_marker("job").args
    benchmark.extra_info |= {"job": named, "target": target}

    def run(job, rounds=request.module.ROUNDS, warm_up=None):
        return benchmark.pedantic(job, rounds=rounds, warmup_rounds=int(rounds > 1 if warm_up is None else warm_up))

    return run
