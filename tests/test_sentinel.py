"""Sentinels: what they may see, what they learn, and that they come back as they were saved."""

import dataclasses
import json
import os
import subprocess
import sys
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta import sentinel
from mtmeta.sentinel import LightConfig, TransformerConfig


@pytest.fixture(scope="module")
def es() -> mm.EvalSet:
    return mm.load("teaching")


@pytest.fixture(scope="module")
def frame(es) -> pd.DataFrame:
    return sentinel.training_frame(es.select(segments=es.segments[:150]))


@pytest.fixture(scope="module")
def light(frame) -> dict[str, sentinel.Sentinel]:
    return {sees: sentinel.fit(frame, sees=sees) for sees in sentinel.SEES}


def made_up(n: int = 60) -> pd.DataFrame:
    """Return rows whose score is minus the number of letters a in the translation."""
    texts = ["a" * (i % 7) + "b" * (i % 5) + chr(ord("c") + i % 11) + " end" for i in range(n)]
    human = [-float(i % 7) for i in range(n)]
    return pd.DataFrame({"source": [f"source {i}" for i in range(n)], "translation": texts, "human": human})


def test_training_frame_by_hand():
    texts = mm.Texts(("s1", "s2"), {"refA": ("r1", "r2"), "refB": ("x", "y")}, {"A": ("a1", "a2"), "B": ("b1", "b2")})
    es = mm.EvalSet([[0, -4], [-2, np.nan]], {}, systems=["A", "B"], name="x", language_pair="de-en", texts=texts)
    other = mm.EvalSet(10 * es.human + 7, {}, systems=es.systems, name="y", texts=texts)  # each set on its own
    found = sentinel.training_frame([es, other])
    assert found["human"][:3].tolist() == pytest.approx(found["human"][3:].tolist())
    found = found.head(3)
    # mean -2, standard deviation sqrt((4 + 4 + 0) / 3)
    unit = 2 / np.sqrt(8 / 3)
    np.testing.assert_allclose(found.pop("human"), [unit, -unit, 0])
    assert found.columns.tolist() == ["set", "lp", "system", "segment", "source", "reference", "translation"]
    assert found.to_numpy().tolist() == [
        ["x", "de-en", "A", 1, "s1", "r1", "a1"],
        ["x", "de-en", "A", 2, "s2", "r2", "a2"],
        ["x", "de-en", "B", 1, "s1", "r1", "b1"],
    ]


def test_training_frame_refuses_what_cannot_be_trained_on(es):
    refuses("at least one set", sentinel.training_frame, [])
    bare = mm.EvalSet([[0, 1]], {}, systems=["A"], name="bare")
    refuses("'bare' has no texts", sentinel.training_frame, [es, bare])
    flat = mm.EvalSet([[1, 1]], {}, systems=["A"], texts=mm.Texts(("a", "b")))
    refuses("every human score is 1", sentinel.training_frame, flat)


def test_overlap_is_found_after_normalisation():
    train = pd.DataFrame({"source": ["Ｇuten  Tag.", "Neu"], "translation": ["GOOD DAY.", "New"]})
    texts = mm.Texts(("guten tag.", "Anders"), {"refA": ("good day.", "Other")}, {"A": ("good\tday.", "New!")})
    found = sentinel.find_overlap(train, mm.EvalSet([[0, 1]], {}, systems=["A"], texts=texts))
    columns = ["text", "test_role", "train_role"]
    assert found.columns.tolist() == columns
    assert found.to_numpy().tolist() == [
        ["guten tag.", "source", "source"],
        ["good day.", "reference+translation", "translation"],
    ]
    nothing = sentinel.find_overlap(train, pd.DataFrame({"source": ["Anderes"]}))
    assert nothing.empty
    assert nothing.columns.tolist() == columns
    refuses("the test set has no text", sentinel.find_overlap, train, pd.DataFrame({"human": [1]}))


def test_table_with_the_names_of_comet_is_read(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("src\tmt\tref\tscore\tlp\nnull\t\tr\t0.5\tde-en\nb\tNA\tr\t\tde-en\n", encoding="utf-8-sig")
    found = sentinel.read_table(path)
    assert found.columns.tolist() == ["source", "translation", "reference", "human", "lp"]
    assert found["source"].tolist() == ["null", "b"]
    assert found["translation"].tolist() == ["", "NA"]
    assert found["human"].isna().tolist() == [False, True]


def changed(**columns) -> pd.DataFrame:
    return made_up().assign(**columns)


BAD_FRAMES = [
    (made_up().drop(columns="human"), ValueError, "lacks the column 'human'"),
    (made_up().head(0), ValueError, "no rows"),
    (made_up(9), ValueError, "at least 10 distinct texts .* has 9 in 9 rows"),
    (changed(human=2.5), ValueError, "every human score is 2.5"),
    (changed(source="same"), ValueError, "every row has the same source"),
    (changed(human=[*range(59), None]), ValueError, "'human' of `frame` is empty in 1 rows"),
    (changed(human=[*range(59), " "]), ValueError, "'human' of `frame` is empty in 1 rows, the first row 60"),
    (changed(human=[*range(59), np.inf]), ValueError, r"infinite score \(data row 60\)"),
    (changed(human=[*range(59), "bad"]), ValueError, "found 'bad' in data row 60"),
    (changed(translation=[*map(str, range(59)), None]), ValueError, "in row 60 and no text in 1 of 60 rows"),
    (changed(translation=[*map(str, range(59)), 7]), ValueError, "holds 7 in row 60"),
    ({"translation": ["a"]}, TypeError, "must be a DataFrame"),
    ([], TypeError, "non-empty list"),
    ([made_up(), [1]], TypeError, "must be a pandas DataFrame; found list"),
]


@pytest.mark.parametrize(("frame", "kind", "message"), BAD_FRAMES, ids=[m for *_, m in BAD_FRAMES])
def test_frame_that_cannot_be_learnt_from(frame, kind, message):
    refuses(message, sentinel.fit, frame, sees="candidate", error=kind)


def test_empty_translation_is_a_translation_but_an_empty_source_is_missing():
    sentinel.fit(changed(translation=["", *map(str, range(59))]), sees="candidate")
    empty = changed(source=[" ", *map(str, range(59))])
    refuses("column 'source' has no text in 1 of 60 rows", sentinel.fit, empty, sees="source")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sees": "both"}, ValueError, "`sees` must be one of 'source', 'candidate', 'reference'; found 'both'"),
        ({"kind": "heavy"}, ValueError, "`kind` must be one of 'light', 'transformer'; found 'heavy'"),
        ({"config": {}}, TypeError, "takes a LightConfig; found dict"),
        ({"validation": made_up()}, ValueError, "`validation` goes only with kind='transformer'"),
    ],
)
def test_options_are_checked(frame, options, error, message):
    refuses(message, sentinel.fit, frame, **{"sees": "source"} | options, error=error)


@pytest.mark.parametrize("options", [{"folds": 1}, {"alphas": ()}, {"alphas": (0.0,)}])
def test_light_configuration_is_checked(options):
    refuses(next(iter(options)), LightConfig, **options)


def test_light_is_the_ridge_of_all_rows(frame):
    # Equal texts are merged before the fit; here the same regression on all rows, by the normal equations.
    found = sentinel.fit(frame, sees="source", config=LightConfig(alphas=(10.0,)))
    merged = frame.drop_duplicates("source")["source"].tolist()
    ngrams = found._vectoriser.transform(merged).toarray()
    shape = (sentinel._light.shape_of(merged) - found._state["mean"]) / found._state["scale"]
    features = pd.DataFrame(np.hstack([ngrams, shape]), index=merged).loc[frame["source"]].to_numpy()
    centred = features - features.mean(axis=0)
    y = frame["human"].to_numpy()
    weights = np.linalg.solve(centred.T @ centred + 10 * np.eye(centred.shape[1]), centred.T @ (y - y.mean()))
    expected = centred @ weights + y.mean()
    np.testing.assert_allclose(found.score(frame["source"]), expected, atol=1e-6)


def test_light_takes_the_penalty_with_the_smallest_error(light):
    table = light["source"].validation
    assert table["alpha"].tolist() == list(LightConfig().alphas)
    assert light["source"].alpha == table.loc[table["mse"].idxmin(), "alpha"]
    assert table["pearson"].between(-1, 1).all()


def test_no_source_is_on_both_sides_of_a_validation_fold():
    # Scores that belong to the source alone, at random: only one who has seen the source can know them.
    rng = np.random.default_rng(0)
    sources = np.repeat([f"{i:03d} {'xyz'[i % 3]}" for i in range(60)], 8)
    texts = [f"{source} v{k % 8}" for k, source in enumerate(sources)]
    human = np.repeat(rng.normal(size=60), 8)
    frame = pd.DataFrame({"source": sources, "translation": texts, "human": human})
    leaky = frame.assign(source=[f"row {i}" for i in range(len(frame))])
    grouped, leaky = (sentinel.fit(t, sees="candidate").validation["pearson"].max() for t in (frame, leaky))
    assert leaky > 0.9
    assert grouped < 0.4


@pytest.mark.parametrize("sees", sentinel.SEES)
def test_row_order_changes_no_bit_of_a_light_sentinel(frame, light, sees):
    mixed = frame.sample(frac=1, random_state=7)
    again = sentinel.fit([mixed[:700], mixed[700:]], sees=sees)
    assert (again.score_frame(frame) == light[sees].score_frame(frame)).all()
    assert (again.signature, again.alpha) == (light[sees].signature, light[sees].alpha)
    pd.testing.assert_frame_equal(again.validation, light[sees].validation, check_exact=True)


def test_folds_are_dealt_out_the_largest_source_first():
    # Rows of source k: 3, 1, 2, 1, 1. By size, ties by first row: 0, 2, 1, 3, 4; dealt to two folds: {0, 1, 4}, {2, 3}.
    groups = np.repeat(range(5), [3, 1, 2, 1, 1])
    x, y = np.arange(16.0).reshape(8, 2) ** 0.5, np.arange(8.0) % 3
    config = LightConfig(alphas=(2.0,), folds=2)
    guess = np.empty(8)
    for inside in (np.isin(groups, [0, 1, 4]), np.isin(groups, [2, 3])):
        fitted = sentinel._light._ridge(x[~inside], y[~inside], np.ones((~inside).sum()), 2.0, tolerance=1e-4)
        guess[inside] = fitted.predict(x[inside])
    found = sentinel._light._validate(x, y, np.ones(8), groups, config)
    assert found["mse"].tolist() == [np.average((guess - y) ** 2)]


def test_score_of_a_text_does_not_depend_on_its_neighbours(frame, light):
    texts = frame["translation"].unique().tolist()
    together = light["candidate"].score(texts)
    assert (together[:20] == [light["candidate"].score([t])[0] for t in texts[:20]]).all()
    assert (light["candidate"].score(texts[::-1]) == together[::-1]).all()
    assert light["candidate"].score([]).shape == (0,)


@pytest.mark.parametrize("sees", sentinel.SEES)
def test_light_comes_back_as_it_was_saved(light, frame, tmp_path, sees):
    light[sees].save(tmp_path / "s")
    again = mm.sentinel.load(tmp_path / "s")
    assert (again.score_frame(frame) == light[sees].score_frame(frame)).all()
    assert again.signature == light[sees].signature
    assert again.config == light[sees].config
    pd.testing.assert_frame_equal(again.validation, light[sees].validation)
    assert sorted(p.name for p in (tmp_path / "s").iterdir()) == ["sentinel.json", "weights.npz"]


@pytest.mark.parametrize("name", ["thesis.tex", "sentinel.json"])
def test_saving_spares_other_files(light, tmp_path, name):
    (tmp_path / name).write_text('{"sentinel": "mine"}')
    refuses("holds other files", light["source"].save, tmp_path)
    refuses("is a file", light["source"].save, tmp_path / name)
    light["source"].save(tmp_path / "new")
    light["candidate"].save(tmp_path / "new")
    assert sentinel.load(tmp_path / "new").sees == "candidate"


@pytest.mark.parametrize("sees", ["source", "reference"])
def test_blind_sentinel_is_constant_within_segments(light, es, sees):
    scores = light[sees].score_set(es)
    assert scores.shape == es.shape
    assert (scores == scores[0]).all()
    assert len(np.unique(scores[0])) > 100
    blind = es.with_metrics({"S": scores})
    for coefficient in ("pearson", "kendall"):
        assert mm.correlate(blind, coefficient=coefficient).value[0] == 0
    assert mm.correlate(blind, coefficient="acc_eq").value[0] == pytest.approx(mm.ties.human_tie_share(es))


def test_set_is_scored_text_by_text(light):
    references = {"refA": ("one", "two"), "refB": ("1", "2")}
    texts = mm.Texts(("eins", "zwei"), references, {"A": ("one", None), "B": ("x", "one")})
    es = mm.EvalSet([[0, 1], [1, 0], [1, 1]], {}, systems=["A", "B", "C"], texts=texts)
    one, x = light["candidate"].score(["one", "x"])
    expected = [[one, np.nan], [x, one], [np.nan, np.nan]]
    np.testing.assert_array_equal(light["candidate"].score_set(es), expected)
    np.testing.assert_array_equal(light["reference"].score_set(es)[2], light["reference"].score(["one", "two"]))


def test_set_without_the_text_is_refused(light):
    bare = mm.EvalSet([[0, 1]], {}, systems=["A"], name="bare")
    refuses("'bare' has no source texts", light["source"].score_set, bare)
    half = mm.EvalSet([[0, 1]], {}, systems=["A"], name="half", texts=mm.Texts(("a", "b")))
    for sees, column in (("candidate", "translation"), ("reference", "reference")):
        refuses(f"'half' has no {column} texts", light[sees].score_set, half)
    refuses("expected an EvalSet", light["source"].score_set, pd.DataFrame(), error=TypeError)


def test_texts_are_checked(light):
    refuses("found the string 'text'", light["source"].score, "text", error=TypeError)
    for wrong in (None, np.nan, pd.NA, 1):
        refuses(f"found {wrong} at position 1", light["source"].score, ["a", wrong], error=TypeError)


TINY = TransformerConfig(encoder="scratch-small", learning_rate=2e-3, checks=3)


@pytest.fixture(scope="module", autouse=True)
def _tiny():
    """Make the small encoder smaller."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sentinel._settings.SCRATCH, "scratch-small", (32, 1, 2, 64, 400))
        yield


@pytest.fixture(scope="module")
def few(frame) -> pd.DataFrame:
    return frame.sample(160, random_state=0)


@pytest.fixture(scope="module")
def module(transformers):
    from mtmeta.sentinel import _transformer

    return _transformer


@pytest.fixture(scope="module")
def torch(transformers):
    import torch

    return torch


def train(frame, sees="source", *, config=None, **options) -> sentinel.Sentinel:
    """Train a tiny transformer; ``options`` are those of `fit`, or fields of the configuration to change."""
    changes = {f.name: options.pop(f.name) for f in dataclasses.fields(TINY) if f.name in options}
    config = dataclasses.replace(config or TINY, **changes)
    return sentinel.fit(frame, sees=sees, kind="transformer", config=config, **options)


@pytest.fixture(scope="module")
def tiny(few, transformers) -> sentinel.Sentinel:
    """Return a sentinel trained without an interruption."""
    return train([few, few], peak_flops=1e12)


def weights(found: sentinel.Sentinel) -> dict:
    return found.network.state_dict()


def same_weights(a: sentinel.Sentinel, b: sentinel.Sentinel) -> bool:
    return all((tensor == weights(b)[name]).all() for name, tensor in weights(a).items())


def near(a: sentinel.Sentinel, b: sentinel.Sentinel, *, atol: float) -> None:
    for name, tensor in weights(a).items():
        np.testing.assert_allclose(tensor, weights(b)[name], atol=atol)


def test_default_configuration_is_the_recipe_of_the_paper():
    # Perrella et al. 2024, section 3.1 and table 4; clipping and seed from the published configuration files.
    published = {"encoder": "FacebookAI/xlm-roberta-large", "head": (512, 128), "dropout": 0.1, "learning_rate": 1e-6}
    published |= {"batch_size": 8, "accumulation": 2, "epochs": 1, "max_grad_norm": 1.0, "max_length": 512, "seed": 12}
    ours = {"precision": "auto", "select": "kendall", "checks": 4, "recipe": "published", "tokens": 12_288}
    ours |= {"gradient_checkpointing": False, "deterministic": False}
    assert dataclasses.asdict(TransformerConfig()) == published | ours


@pytest.mark.usefixtures("transformers")
def test_scratch_shapes_are_those_of_xlm_r():
    from transformers import XLMRobertaConfig

    scratch, xlm = sentinel._settings.SCRATCH, XLMRobertaConfig()
    sizes = [xlm.hidden_size, xlm.num_hidden_layers, xlm.num_attention_heads, xlm.intermediate_size]
    assert [*scratch["scratch-base"][:4]] == sizes
    assert scratch["scratch-large"][:4] == (1024, 24, 16, 4096)


def arguments(folder, config=None, **how):
    """Return the trainer's settings for one stage."""
    from mtmeta.sentinel import _transformer as module

    usual = {"validated": False, "selected": False, "kept": False, "progress": False}
    return module._arguments(config or TransformerConfig(), folder, 0, **usual | how)


def test_trainer_has_the_settings_of_the_configuration(tmp_path, module, torch):
    found = arguments(tmp_path)
    assert found.per_device_train_batch_size == 8
    assert found.gradient_accumulation_steps == 2
    assert found.num_train_epochs == 1
    assert (found.learning_rate, found.lr_scheduler_type, found.warmup_steps) == (1e-6, "constant", 0)
    assert (found.max_grad_norm, found.weight_decay) == (1.0, 0.0)
    kind = (torch.optim.RAdam, {"lr": 1e-6})
    trainer = module.SentinelTrainer(torch.nn.Linear(2, 1), found, optimizer_cls_and_kwargs=kind)
    trainer.sampler = module.ByLength([1], TransformerConfig(), 0)
    optimiser = trainer.create_optimizer()
    assert type(optimiser) is torch.optim.RAdam
    assert {group["lr"] for group in optimiser.param_groups} == {1e-6}


@pytest.mark.usefixtures("transformers")
def test_checkpoints_are_written_only_where_somebody_wants_them(tmp_path):
    strategies = [
        (found.save_strategy, found.save_only_model)
        for found in (
            arguments(tmp_path),
            arguments(tmp_path, validated=True, selected=True),
            arguments(tmp_path, kept=True),
        )
    ]
    assert strategies == [("no", True), ("steps", True), ("steps", False)]


@pytest.mark.usefixtures("transformers")
def test_one_gpu_of_several_is_used_unless_processes_are_started(tmp_path, monkeypatch):
    from transformers import TrainingArguments

    def two(self):
        self._n_gpu = 2

    after = TrainingArguments.__post_init__
    monkeypatch.setattr(TrainingArguments, "__post_init__", lambda self: (after(self), two(self))[0])
    assert arguments(tmp_path).n_gpu == 1


def test_bf16_that_a_gpu_only_emulates_does_not_count(monkeypatch, torch, module):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: including_emulation)
    assert not module._bf16(TransformerConfig())
    refuses("needs a GPU that computes in it", module._bf16, TransformerConfig(precision="bf16"))


def test_batches_hold_texts_of_similar_length_in_any_order(module):
    lengths = np.random.default_rng(0).integers(1, 100, 1003)
    config = TransformerConfig(batch_size=16, accumulation=1)
    sampler = module.ByLength(lengths, config, 3)
    batches = list(sampler)
    assert sorted(i for batch in batches for i in batch) == list(range(1003))
    assert [len(batch) for batch in batches] == [16] * 62 + [11]
    assert (len(sampler), list(module.ByLength(lengths, config, 3))) == (63, batches)
    assert np.mean([np.ptp(lengths[batch]) for batch in batches[:-1]]) < 20  # of 99
    means = np.array([np.mean(lengths[batch]) for batch in batches[:-1]])
    assert (means[1:] < means[:-1]).mean() == pytest.approx(0.5, abs=0.15)
    sampler.epoch = 1
    again = list(sampler)
    assert sorted(i for batch in again for i in batch) == list(range(1003))
    assert again != batches
    # Each process has as many batches, and none is empty, even where there is one text in each.
    single = TransformerConfig(batch_size=1, accumulation=1)
    shares = [list(module.ByLength(lengths, single, 3, rank, 2)) for rank in (0, 1)]
    assert [len(share) for share in shares] == [502, 502] == [sum(map(bool, share)) for share in shares]
    assert {i for share in shares for batch in share for i in batch} == set(range(1003))
    # The texts that fill no step are drawn like all others: the mean length is 50, of 11 x 40 draws.
    last = [lengths[module.ByLength(lengths, config, seed).batches(0)[-1]].mean() for seed in range(40)]
    assert np.mean(last) == pytest.approx(lengths.mean(), abs=5)


@pytest.mark.parametrize("recipe", ["published", "fast"])
def test_processes_share_out_the_batches_evenly(recipe, module):
    lengths = np.random.default_rng(0).integers(1, 100, 1003)
    config = TransformerConfig(recipe=recipe, tokens=800)
    parts = [module.ByLength(lengths, config, 3, rank, 4) for rank in range(4)]
    assert len({len(part) for part in parts}) == len({len(list(part)) for part in parts}) == 1
    batches = [batch for part in parts for batch in part]
    assert sorted(i for batch in batches for i in batch) == list(range(1003))
    if recipe == "fast":
        sizes = [len(batch) * lengths[batch].max() for batch in batches]
        assert max(sizes) <= 800
        assert np.mean(sizes) > 700
        assert {len(list(part)) for part in parts for part.epoch in (0, 1, 2)} == {len(parts[0])}


@pytest.mark.slow
@pytest.mark.usefixtures("transformers")
def test_error_falls():
    frame = made_up(160)
    found = train(frame, "candidate", epochs=20, learning_rate=5e-3, head=(16,))
    assert np.mean((found.score_frame(frame) - frame["human"]) ** 2) < 0.5 * frame["human"].var()


@pytest.mark.slow
def test_scores_have_32_bits_though_training_has_16(few, torch):
    found = train(few, "candidate", precision="bf16", validation=few.head(40))
    assert found.report.precision == "bf16"

    scores = torch.from_numpy(found.score_frame(few))
    assert len(scores.unique()) > 10 * len(scores.bfloat16().unique())
    error = np.mean((found.score_frame(few.head(40)) - few.head(40)["human"]) ** 2)
    curve = found.report.to_frame().dropna(subset="validation_loss").set_index("step")["validation_loss"]
    assert error == pytest.approx(curve[found.report.best[0]], rel=1e-5)
    batch = {"input_ids": torch.tensor([[0, 99, 2]] * 8), "attention_mask": torch.ones(8, 3, dtype=torch.long)}
    with torch.autocast("cpu", torch.bfloat16):
        logits = found.network.train()(**batch)["logits"]
    assert logits.dtype == torch.float32
    assert (logits != logits.bfloat16().float()).any()
    network = found.network.eval()
    with torch.inference_mode():
        expected = network.head(network.encoder(**batch).last_hidden_state[:, 0]).squeeze(-1)
        with torch.autocast("cpu", torch.bfloat16):
            assert torch.equal(network(**batch)["logits"], expected)


@pytest.mark.slow
def test_deterministic_operations_are_taken_on_demand_and_only_in_training(few, monkeypatch, module, torch):
    seen = []
    step = module.SentinelTrainer.training_step

    def watched(self, *args, **options):
        seen.append(torch.are_deterministic_algorithms_enabled())
        return step(self, *args, **options)

    monkeypatch.setattr(module.SentinelTrainer, "training_step", watched)
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "0")
    before, cudnn = dict(os.environ), torch.backends.cudnn
    flags = cudnn.deterministic, cudnn.benchmark
    for deterministic in (False, True):
        train(few.head(32), deterministic=deterministic)
    assert seen == [False] * 4 + [True] * 4
    assert not torch.are_deterministic_algorithms_enabled()
    assert (cudnn.deterministic, cudnn.benchmark) == flags
    switches = ("CUDA_LAUNCH_BLOCKING", "CUBLAS_WORKSPACE_CONFIG", "FLASH_ATTENTION_DETERMINISTIC")
    assert [os.environ.get(name) for name in switches] == [before.get(name) for name in switches]


TOGETHER = """
import sys
import numpy as np
import mtmeta as mm
from mtmeta.sentinel import TransformerConfig, fit, training_frame

es = mm.load("teaching")
few = training_frame(es.select(segments=es.segments[:150])).sample(160, random_state=0)
mm.sentinel._settings.SCRATCH["scratch-small"] = (32, 1, 2, 64, 400)
config = TransformerConfig(encoder="scratch-small", learning_rate=2e-3, checks=5, epochs=2)
found = fit(few, sees="source", kind="transformer", config=config, validation=few.head(40))
found.save(sys.argv[1])
curve = found.report.to_frame().dropna(subset="validation_loss").set_index("step")["validation_loss"]
error = np.mean((found.score_frame(few.head(40)) - few.head(40)["human"]) ** 2)
assert abs(error - curve[found.report.best[0]]) < 1e-5 * error, (error, curve, found.report.best)
assert found.report.n_texts == 320, found.report.n_texts
"""


@pytest.mark.slow
@pytest.mark.usefixtures("transformers")
def test_processes_that_train_together_keep_the_best_weights_and_save_once(tmp_path):
    together = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    (tmp_path / "together.py").write_text(TOGETHER)
    done = subprocess.run([*together, tmp_path / "together.py", tmp_path / "s"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = sentinel.load(tmp_path / "s")
    assert found.report.world_size == 2
    assert "|batch:8x2x2|" in found.signature == found.report.signature
    assert found.report.stages[0]["steps"] == 10  # 160 texts twice, 32 a step


@pytest.mark.slow
def test_transformer_is_deterministic_whatever_the_row_order_and_leaves_random_states_alone(tiny, few, torch):
    import random

    before = random.getstate(), torch.get_rng_state()
    mixed = [few.sample(frac=1, random_state=7), few[::-1]]
    again = train(mixed)
    assert same_weights(again, tiny)
    assert again.report.curve == tiny.report.curve
    assert random.getstate() == before[0]
    assert (torch.get_rng_state() == before[1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("validated", [False, True])
@pytest.mark.parametrize("stop_at", [(1, 6), (2, 5)])
def test_resumed_training_ends_with_the_same_weights(few, tmp_path, monkeypatch, stop_at, validated, module):
    fit = partial(train, [few, few], "candidate", validation=few.head(40) if validated else None)
    whole = fit()
    on_step_end, stages = module.Watch.on_step_end, []

    def interrupted(self, args, state, control, **more):
        if self not in stages:
            stages.append(self)
        on_step_end(self, args, state, control, **more)
        if (len(stages), state.global_step) == stop_at:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module.Watch, "on_step_end", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fit(checkpoints=tmp_path)
    resumed = fit(checkpoints=tmp_path)
    assert resumed.report.n_texts == (160 - 4 * 16) + (160 if stop_at[0] == 1 else 0)
    assert resumed.report.stages[stop_at[0] - 1]["resumed_from"] == 4
    assert same_weights(resumed, whole)
    assert resumed.report.curve == whole.report.curve
    assert resumed.report.best == whole.report.best
    # Once more: all is done.
    again = fit(checkpoints=tmp_path)
    assert same_weights(again, whole)
    assert again.report.n_texts == 0


@pytest.mark.usefixtures("transformers")
def test_checkpoints_of_another_run_are_not_taken(few, tmp_path):
    train(few.head(32), checkpoints=tmp_path / "c")
    refuses("another training run", train, few.tail(32), checkpoints=tmp_path / "c")
    (tmp_path / "run.json").touch()
    refuses(r"holds run\.json, which no training has made", train, few.head(32), checkpoints=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("select", "column", "pick"), [("kendall", "validation_kendall", "idxmax"), ("loss", "validation_loss", "idxmin")]
)
def test_best_checkpoint_is_kept(few, select, column, pick):
    found = train(few, select=select, epochs=2, validation=few.head(40))
    curve = found.report.to_frame().dropna(subset=column)
    assert len(curve) >= 3
    assert found.report.best == [curve.loc[getattr(curve[column], pick)(), "step"]]
    best = curve.set_index("step").loc[found.report.best[0]]
    error = np.mean((found.score_frame(few.head(40)) - few.head(40)["human"]) ** 2)
    assert error == pytest.approx(best["validation_loss"], rel=1e-4)


@pytest.mark.slow
def test_stages_can_be_trained_one_by_one(few, tiny):
    fit = partial(sentinel.fit, few, kind="transformer")
    first = train(few)
    before = {name: tensor.clone() for name, tensor in weights(first).items()}
    second = fit(sees="source", start=first)
    assert second.config == TINY
    assert not same_weights(first, second)
    assert all((tensor == before[name]).all() for name, tensor in weights(first).items())
    refuses("`start` sees the source; expected one that sees the candidate", fit, sees="candidate", start=first)
    refuses("encoder and head of `start`", fit, sees="source", start=first, config=TransformerConfig())


def test_transformer_comes_back_as_it_was_saved(tiny, few, es, tmp_path):
    tiny.save(tmp_path / "s")
    (tmp_path / "s" / "_transformer_network.py").write_text("raise SystemExit('code of the folder was run')")
    again = sentinel.load(tmp_path / "s")
    assert (again.score_frame(few) == tiny.score_frame(few)).all()
    assert (again.signature, again.config, again.report) == (tiny.signature, tiny.config, tiny.report)
    assert [p.name for p in (tmp_path / "s").rglob("*") if p.suffix in (".bin", ".pt", ".pkl")] == []
    scores = again.score_set(es)
    assert (scores == scores[0]).all()
    assert len(np.unique(scores[0])) > 100
    shape = tmp_path / "s" / "config.json"
    stored = json.loads(shape.read_text())
    shape.write_text(json.dumps(stored | {"head": [9]}))
    refuses("its weights are of other sizes than its configuration says", sentinel.load, tmp_path / "s")
    shape.write_text(json.dumps(stored | {"encoder": stored["encoder"] | {"vocab_size": 10**12}}))
    refuses("its configuration asks for .* weights", sentinel.load, tmp_path / "s")
    (tmp_path / "s" / "model.safetensors").write_bytes(b"no weights")
    refuses("is damaged", sentinel.load, tmp_path / "s")


@pytest.mark.slow
def test_encoder_is_any_local_checkpoint(named, tiny, few, tmp_path):
    found = train(few, "candidate", config=named, learning_rate=1e-12)
    for name, tensor in weights(tiny).items():
        if name.startswith("encoder."):
            np.testing.assert_allclose(weights(found)[name], tensor, atol=1e-6)
    message = r"the encoder '.*absent' cannot be loaded.*scratch-small"
    refuses(message, train, few, encoder=str(tmp_path / "absent"))


@pytest.fixture(scope="module")
def named(tiny, tmp_path_factory) -> TransformerConfig:
    """Return a configuration whose encoder is a folder with a checkpoint."""
    folder = tmp_path_factory.mktemp("encoder")
    tiny.network.encoder.save_pretrained(folder)
    tiny.tokeniser.save_pretrained(folder)
    return dataclasses.replace(TINY, encoder=str(folder))


def test_a_published_checkpoint_goes_out_and_comes_in(named, few, tiny, tmp_path, torch):
    from transformers import XLMRobertaModel

    found = train(few, "candidate", config=named)
    found.export(tmp_path / "p")
    refuses("File exists", found.export, tmp_path / "p", error=FileExistsError)
    refuses("knows only checkpoints of XLM-R", tiny.export, tmp_path / "q")

    class Published(torch.nn.Module):
        """Parts and names of `SentinelRegressionMetric` of Perrella et al."""

        def __init__(self):
            super().__init__()
            self.encoder, self.estimator = torch.nn.Module(), torch.nn.Module()
            self.encoder.model = XLMRobertaModel(found.network.config.encoder, add_pooling_layer=False)
            part = torch.nn.Linear, torch.nn.Tanh, torch.nn.Dropout
            sizes = (32, 512, 128)
            layers = [layer for a, b in pairwise(sizes) for layer in (part[0](a, b), part[1](), part[2](0.1))]
            self.estimator.ff = torch.nn.Sequential(*layers, part[0](128, 1))

    theirs = Published()
    stored = torch.load(tmp_path / "p" / "checkpoints" / "model.ckpt", weights_only=True)
    theirs.load_state_dict(stored["state_dict"], strict=True)
    assert stored["hyper_parameters"]["sent_to_use"] == "mt"
    assert [layer.p for layer in found.network.head if hasattr(layer, "p")] == [0.1, 0.1]
    texts = few["translation"].unique()[:20].tolist()
    with torch.inference_mode():
        batch = found.tokeniser(texts, return_tensors="pt", padding=True)
        hidden = theirs.eval().encoder.model(batch["input_ids"], batch["attention_mask"]).last_hidden_state
        expected = theirs.estimator.ff(hidden[:, 0]).squeeze(-1).numpy()
    np.testing.assert_allclose(found.score(texts), expected, rtol=0, atol=1e-7)
    again = sentinel.load(tmp_path / "p")
    assert (again.sees, again.config.head) == ("candidate", (512, 128))
    np.testing.assert_array_equal(again.score(texts), found.score(texts))
    stored["state_dict"]["layerwise_attention.gamma"] = torch.ones(1)
    torch.save(stored, tmp_path / "p" / "checkpoints" / "model.ckpt")
    refuses("weights that no sentinel has, such as 'layerwise", sentinel.load, tmp_path / "p")
    (tmp_path / "p" / "checkpoints" / "model.ckpt").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    refuses("the published sentinel in it cannot be loaded", sentinel.load, tmp_path / "p")


WITHOUT_MTMETA = """
import sys
sys.modules["mtmeta"] = None
from transformers import AutoModel, AutoTokenizer
model = AutoModel.from_pretrained(sys.argv[1], trust_remote_code=True).eval()
batch = AutoTokenizer.from_pretrained(sys.argv[1], trust_remote_code=True)(["Guten Tag."], return_tensors="pt")
print(model(batch["input_ids"], batch["attention_mask"])["logits"].item())
"""


def test_a_saved_sentinel_is_a_model_of_transformers_with_a_card(tiny, few, tmp_path):
    from transformers import AutoModel, AutoTokenizer

    tiny.save(tmp_path / "s")
    model = AutoModel.from_pretrained(tmp_path / "s").eval()
    batch = AutoTokenizer.from_pretrained(tmp_path / "s")(["Guten Tag."], return_tensors="pt")
    found = model(batch["input_ids"], batch["attention_mask"])["logits"].item()
    assert found == pytest.approx(tiny.score(["Guten Tag."])[0], abs=1e-6)
    environment = os.environ | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    line = [sys.executable, "-c", WITHOUT_MTMETA, tmp_path / "s"]
    done = subprocess.run(line, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert float(done.stdout) == found
    card = (tmp_path / "s" / "README.md").read_text()
    assert "1. 160 rows, sets teaching\n2. 160 rows" in card
    assert "Seed 12, 1 process" in card
    assert f"torch {tiny.report.versions['torch']}" in card


@pytest.mark.slow
def test_each_stage_is_kept_as_a_sentinel_and_nothing_else(few, tmp_path):
    found = train([few, few[::-1]], validation=few.head(40), checkpoints=tmp_path)
    first, second = (sentinel.load(tmp_path / f"stage-{i}" / "sentinel") for i in (1, 2))
    assert same_weights(second, found)
    assert not same_weights(first, found)
    assert first.report.n_texts == 160
    assert found.report.overlap == few.head(40)["source"].nunique()
    assert not list(tmp_path.rglob("checkpoint-*")) + list(tmp_path.rglob("optimizer*"))


@pytest.mark.slow
def test_published_selection_is_by_sets_at_the_end_of_epochs_and_for_the_candidate_alone(few):
    from scipy.stats import kendalltau

    held_out = few.head(60).assign(set=["a", "b", "b"] * 20)
    fit = partial(train, few, select="published", epochs=3)
    found = fit("candidate", validation=held_out)
    curve = found.report.to_frame().dropna(subset="validation_kendall").set_index("step")["validation_kendall"]
    assert curve.index.tolist() == [10, 20, 30]
    assert found.report.best == [curve.idxmax()]
    scored = held_out.assign(score=found.score_frame(held_out))
    taus = [kendalltau(part["score"], part["human"]).statistic for _, part in scored.groupby("set")]
    assert np.mean(taus) == pytest.approx(curve.max(), abs=1e-6)
    last = fit("source", validation=held_out)
    assert last.report.best == [None]
    assert same_weights(last, fit("source"))  # to validate changes nothing


@pytest.mark.slow
def test_fast_recipe_scales_the_learning_rate_and_compiles_the_step_of_the_optimizer(few, monkeypatch, module, torch):
    compiled = []
    monkeypatch.setattr(torch, "compile", lambda step: compiled.append(step) or step)
    monkeypatch.setattr(module, "_compiles", lambda: True)
    train(few)
    assert compiled == []
    found = train(few, recipe="fast", tokens=600)
    assert [(type(step.__self__), step.__name__) for step in compiled] == [(torch.optim.RAdam, "step")]
    (stage,) = found.report.stages
    assert stage["learning_rate"] == pytest.approx(2e-3 * np.sqrt(160 / stage["steps"] / 16))
    assert found.report.n_padded_tokens <= 600 * stage["steps"]
    assert "|batch:600tokens|" in found.signature


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["published", "fast"])
def test_a_step_that_does_not_fit_into_memory_is_done_again_in_parts(few, monkeypatch, recipe, module, torch):
    make = module._from_scratch

    def without_dropout(*given):
        shape, tokeniser = make(*given)
        shape.hidden_dropout_prob = shape.attention_probs_dropout_prob = 0.0
        return shape, tokeniser

    monkeypatch.setattr(module, "_from_scratch", without_dropout)
    fit = partial(train, few, recipe=recipe, tokens=600, dropout=0.0, accumulation=4)
    whole, forward, sizes = fit(), module.Network.forward, []

    def small(self, input_ids, attention_mask, labels=None):
        if self.training:
            sizes.append(len(input_ids))
            # The third batch of a step, after two whose gradients are there; then the second part of a batch.
            if len(sizes) in (3, 7) or (len(sizes) > 20 and len(input_ids) > 4):
                raise torch.OutOfMemoryError
        return forward(self, input_ids, attention_mask, labels)

    monkeypatch.setattr(module.Network, "forward", small)
    split = fit()
    assert len(sizes) > 40
    near(split, whole, atol=2e-5)
    sizes[:] = [0] * 20
    monkeypatch.setattr(module.Network, "forward", lambda *_, **__: small(whole.network.train(), [0] * 5, None))
    refuses("memory ran out, .* Take a smaller", fit)


def test_processes_that_train_together_say_what_to_do_where_memory_runs_out(torch, module):
    def full(*_):
        raise torch.OutOfMemoryError

    trainer = SimpleNamespace(begun=-1, state=SimpleNamespace(global_step=0), parts=1, _in_parts=full)
    trainer.args = SimpleNamespace(world_size=2)
    step = partial(module.SentinelTrainer.training_step, trainer, None, {"labels": [0] * 8})
    refuses("several processes train, they cannot be split", step)


@pytest.mark.slow
def test_gradient_checkpointing_computes_hidden_states_twice(few, monkeypatch):
    from transformers.models.xlm_roberta.modeling_xlm_roberta import XLMRobertaIntermediate as Layer

    forward, calls, found = Layer.forward, [], []
    monkeypatch.setattr(Layer, "forward", lambda self, *given: calls.append(self.training) or forward(self, *given))
    for asked, times in ((False, 4), (True, 8)):
        calls.clear()
        found.append(train(few.head(32), gradient_checkpointing=asked))
        assert calls == [True] * times
    assert same_weights(*found)


@pytest.mark.slow
def test_validation_takes_batches_of_tokens_that_processes_share(tiny, few, monkeypatch, module):
    monkeypatch.setattr(module, "_SCORED_AT_ONCE", 300)
    forward, sizes = module.Network.forward, []

    def watched(self, input_ids, attention_mask, labels=None):
        if not self.training:
            sizes.append(input_ids.shape)
        return forward(self, input_ids, attention_mask, labels)

    monkeypatch.setattr(module.Network, "forward", watched)
    train(few, checks=1, validation=few.head(40))
    assert sum(n for n, _ in sizes) == 40
    assert max(n * length for n, length in sizes) <= 300
    ids = module._token_ids(tiny, few["source"].tolist())
    whole, *shares = (module._scores(tiny, ids, *place) for place in ((0, 1), (0, 3), (1, 3), (2, 3)))
    np.testing.assert_array_equal(np.sum(shares, axis=0), whole)
    assert all(0 < np.count_nonzero(share) < 100 for share in shares)


def test_of_several_processes_the_first_one_saves_and_all_wait(tiny, few, tmp_path, monkeypatch, module):
    for rank in (0, 1):
        seen, first, place = [], rank == 0, tmp_path / f"process-{rank}"
        (place / "stage-1" / "checkpoint-4").mkdir(parents=True)

        def there(names=("s/sentinel.json", "stage-1/sentinel", "stage-1/checkpoint-4"), place=place, seen=seen):
            seen.append([(place / name).exists() for name in names])

        processes = SimpleNamespace(is_main_process=first, num_processes=2, process_index=rank, wait_for_everyone=there)
        monkeypatch.setattr(module, "_processes", lambda processes=processes: processes)
        tiny.save(place / "s")
        assert seen == [[first, False, True]]
        module._keep_stage(tiny, place / "stage-1", {})
        # The checkpoints stay until all have read the best one; nobody goes on before they are gone.
        assert seen[1:] == [[first, False, True], [first, first, not first]]
        with module._shared(place / "c", "0") as folder:
            assert (folder / "run.json").exists() == first
        assert len(seen) == 4
    # The same texts and configuration, but two processes: another run.
    with monkeypatch.context() as alone:
        alone.setattr(module, "_processes", module.PartialState)
        train(few.head(32), checkpoints=tmp_path / "c")
    processes.is_main_process, processes.process_index = True, 0
    refuses(r"another training run .* number of processes", train, few.head(32), checkpoints=tmp_path / "c")


def test_texts_are_tokenised_in_chunks_and_cut(tiny, monkeypatch, module):
    monkeypatch.setattr(module, "_CHUNK", 7)
    texts = [*(f"text {i}" for i in range(20)), "", "Wort " * 5000]
    found = module._token_ids(tiny, texts)
    assert [row.tolist() for row in found] == tiny.tokeniser(texts, truncation=True)["input_ids"]
    assert len(found[-1]) == 512


def test_report_counts_by_hand(tiny, few):
    report = tiny.report
    tokens = [len(ids) for ids in tiny.tokeniser(few["source"].tolist(), truncation=True)["input_ids"]]
    assert (report.n_texts, report.n_tokens) == (2 * 160, 2 * sum(tokens))
    assert report.n_tokens < report.n_padded_tokens < 2 * 160 * max(tokens)
    # One layer of width 32: attention 4 (32 x 32 + 32), two feed-forward, two norms; and the head.
    layer = 4 * (32 * 32 + 32) + (32 * 64 + 64) + (64 * 32 + 32) + 2 * 64
    head = (32 * 512 + 512) + (512 * 128 + 128) + (128 + 1)
    assert report.flops == pytest.approx(6 * (layer + head + 2 * 32) * report.n_padded_tokens)
    assert report.share_of_peak == pytest.approx(report.flops / report.seconds / 1e12)
    assert report.texts_per_second == pytest.approx(320 / report.seconds)
    assert 0 < report.seconds < report.wall_seconds
    assert [(s["texts"], s["steps"], s["resumed_from"]) for s in report.stages] == [(160, 10, 0)] * 2
    assert report.best == [None, None]
    assert "from random weights" in report.encoder


def test_report_is_written_and_read(tiny, tmp_path):
    tiny.report.write(tmp_path / "r.json", command="train this")
    again = sentinel.read_report(tmp_path / "r.json")
    assert again == dataclasses.replace(tiny.report, command="train this")
    assert set(again.versions) == {"python", "torch", "transformers", "accelerate", "mtmeta"}
    assert again.to_frame().columns.tolist() == ["stage", "step", "loss", "validation_loss", "validation_kendall"]
    (tmp_path / "r.json").write_text("{}")
    refuses("no training report", sentinel.read_report, tmp_path / "r.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "`batch_size` must be at least 1; found 0"),
        ({"epochs": 1.5}, "`epochs` must be a whole number"),
        ({"seed": 2**32}, "`seed` must be at most 4,294,967,295"),
        ({"dropout": 1.0}, "`dropout`"),
        ({"learning_rate": 0.0}, "`learning_rate` must be a positive number"),
        ({"max_length": 2}, "`max_length` must be at least 3"),
        ({"precision": "fp16"}, "`precision` must be one of 'auto', 'bf16', 'fp32'; found 'fp16'"),
        ({"select": "pearson"}, "`select` must be one of 'kendall', 'loss'"),
    ],
)
def test_configuration_is_checked(options, message):
    refuses(message, TransformerConfig, error=(ValueError, TypeError), **options)


@pytest.mark.slow
def test_transformer_options_are_checked(few, light):
    fit = partial(sentinel.fit, few, sees="source", kind="transformer")
    refuses("takes a TransformerConfig; found LightConfig", fit, config=LightConfig(), error=TypeError)
    refuses("must be a transformer sentinel; found LightSentinel", fit, start=light["source"], error=TypeError)
    refuses("`peak_flops` must be a positive number", train, few, peak_flops=0)
    refuses("the first row 1", train, few, validation=few.assign(human=np.nan))
    refuses("training diverged", train, few, learning_rate=1e38)


@pytest.mark.slow
def test_progress_bar_is_on_standard_error_and_else_there_is_nothing(few, capfd):
    train(few, validation=few.head(40))
    assert capfd.readouterr() == ("", "")
    train(few, validation=few.head(40), progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "10/10" in err
    assert "loss=" in err


WITHOUT_TORCH = """
import sys
class Absent:
    def find_spec(self, name, *_):
        if name == "torch":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Absent())
import mtmeta as mm
frame = mm.sentinel.training_frame(mm.load("teaching"))
print(mm.sentinel.fit(frame, sees="source").kind)
try:
    mm.sentinel.fit(frame, sees="source", kind="transformer")
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
def test_light_needs_no_torch_and_transformer_says_what_it_needs():
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=True)
    kind, message = done.stdout.splitlines()
    assert kind == "light"
    assert "torch is not installed: pip install 'mtmeta[sentinel]'" in message


@pytest.mark.data
def test_no_wmt23_source_is_in_the_training_text(data_dir):
    mqm = [*mm.load_all("ted"), *mm.load_all("newstest2021")]
    found = sentinel.find_overlap(sentinel.training_frame([*mm.load_all("wmt17-da"), *mqm]), mm.load_all("wmt23"))
    assert not found["test_role"].str.contains("source|reference").any()
    # One stock phrase: three systems' output is also one training system's output.
    assert found[["test_role", "train_role"]].values.tolist() == [["translation", "translation"]]
    assert len(found["text"][0]) == 23
