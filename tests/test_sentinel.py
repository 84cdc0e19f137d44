"""Sentinels: what they may see, what they learn, and that they come back as they were saved."""

import dataclasses
import json
import shutil
import sys

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
    texts = mm.evalset.Texts(
        ("s1", "s2"), {"refA": ("r1", "r2"), "refB": ("x", "y")}, {"A": ("a1", "a2"), "B": ("b1", "b2")}
    )
    es = mm.EvalSet(
        [[0, -4], [-2, np.nan]], {}, systems=["A", "B"], name="x", about={"language_pair": "de-en"}, texts=texts
    )
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


def test_overlap_is_found_after_normalisation():
    train = pd.DataFrame({"source": ["Ｇuten  Tag.", "Neu"], "translation": ["GOOD DAY.", "New"]})
    texts = mm.evalset.Texts(("guten tag.", "Anders"), {"refA": ("good day.", "Other")}, {"A": ("good\tday.", "New!")})
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
    found = sentinel.read_texts(path)
    assert found.columns.tolist() == ["source", "translation", "reference", "human", "lp"]
    assert found["source"].tolist() == ["null", "b"]
    assert found["translation"].tolist() == ["", "NA"]
    assert found["human"].isna().tolist() == [False, True]


def changed(**columns) -> pd.DataFrame:
    return made_up().assign(**columns)


BAD_FRAMES = [
    (made_up(9), ValueError, "at least 10 distinct texts .* has 9 in 9 rows"),
    (changed(source="same"), ValueError, "every row has the same source"),
    (changed(human=[*range(59), "bad"]), ValueError, "found 'bad' in data row 60"),
    (changed(translation=[*map(str, range(59)), None]), ValueError, "in row 60 and no text in 1 of 60 rows"),
]


@pytest.mark.parametrize(("frame", "kind", "message"), BAD_FRAMES, ids=[m for *_, m in BAD_FRAMES])
def test_frame_that_cannot_be_learnt_from(frame, kind, message):
    refuses(message, sentinel.fit, frame, sees="candidate", error=kind)


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


def test_equally_frequent_ngrams_are_taken_by_the_alphabet():
    letters = [chr(k) for k in range(0x4E00, 0x5000)]  # each in two texts, the last one in three
    texts = ["".join(letters), "".join(reversed(letters)), letters[-1]]
    assert sentinel._light._most_frequent(texts, 100)[0] == [*letters[:99], letters[-1]]


def test_no_source_is_on_both_sides_of_a_validation_fold():
    # Scores that belong to the source alone, at random: only one who has seen the source can know them.
    rng = np.random.default_rng(0)
    sources = np.repeat([f"{i:03d} {'xyz'[i % 3]}" for i in range(60)], 8)
    texts = [f"{source} v{k % 8}" for k, source in enumerate(sources)]
    human = np.repeat(rng.normal(size=60), 8)
    frame = pd.DataFrame({"source": sources, "translation": texts, "human": human})
    leaky = frame.assign(source=[f"row {i}" for i in range(len(frame))])
    errors = (min(sentinel.fit(t, sees="candidate").validation.values()) for t in (frame, leaky))
    grouped, leaky = (error / human.var() for error in errors)  # 1 for the mean of all
    assert leaky < 0.2
    assert grouped > 0.8


@pytest.mark.parametrize("sees", sentinel.SEES)
def test_row_order_changes_no_bit_of_a_light_sentinel(frame, light, sees):
    mixed = frame.sample(frac=1, random_state=7)
    again = sentinel.fit([mixed[:700], mixed[700:]], sees=sees)
    assert (again.score_frame(frame) == light[sees].score_frame(frame)).all()
    assert (again.signature, again.alpha) == (light[sees].signature, light[sees].alpha)
    assert again.validation == light[sees].validation


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
    assert again.validation == light[sees].validation
    assert [p.name for p in (tmp_path / "s").iterdir()] == ["sentinel.json"]


def test_saving_replaces_a_sentinel_whole_or_leaves_none(light, tmp_path, monkeypatch):
    light["source"].save(tmp_path)
    light["candidate"].save(tmp_path)
    assert sentinel.load(tmp_path).sees == "candidate"
    monkeypatch.setattr(type(light["source"]), "_write", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        light["source"].save(tmp_path)
    refuses("contains no sentinel", sentinel.load, tmp_path)


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
    texts = mm.evalset.Texts(("eins", "zwei"), references, {"A": ("one", None), "B": ("x", "one")})
    es = mm.EvalSet([[0, 1], [1, 0], [1, 1]], {}, systems=["A", "B", "C"], texts=texts)
    one, x = light["candidate"].score(["one", "x"])
    expected = [[one, np.nan], [x, one], [np.nan, np.nan]]
    np.testing.assert_array_equal(light["candidate"].score_set(es), expected)
    np.testing.assert_array_equal(light["reference"].score_set(es)[2], light["reference"].score(["one", "two"]))


TINY = TransformerConfig(encoder="scratch-small", learning_rate=2e-3, checks=3)


@pytest.fixture(scope="module", autouse=True)
def _tiny():
    """Make the small encoder smaller."""
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentinel._settings, "SMALL", sizes)
        yield


@pytest.fixture(scope="module")
def few(frame) -> pd.DataFrame:
    return frame.sample(160, random_state=0)


@pytest.fixture(scope="module")
def torch(transformers):
    import torch

    return torch


def train(frame, sees="source", **options) -> sentinel.Sentinel:
    """Train a tiny transformer; ``options`` are those of `fit`, or fields of the configuration to change."""
    changes = {f.name: options.pop(f.name) for f in dataclasses.fields(TINY) if f.name in options}
    return sentinel.fit(frame, sees=sees, kind="transformer", config=dataclasses.replace(TINY, **changes), **options)


@pytest.fixture(scope="module")
def tiny(few, transformers) -> sentinel.Sentinel:
    """Return a sentinel trained without an interruption."""
    return train([few, few])


def same_weights(a: sentinel.Sentinel, b: sentinel.Sentinel) -> bool:
    other = b.network.state_dict()
    return all((tensor == other[name]).all() for name, tensor in a.network.state_dict().items())


def test_default_configuration_is_the_recipe_of_the_paper():
    # Perrella et al. 2024, section 3.1 and table 4; clipping and seed from the published configuration files.
    published = {"encoder": "FacebookAI/xlm-roberta-large", "head": (512, 128), "dropout": 0.1, "learning_rate": 1e-6}
    published |= {"batch_size": 8, "accumulation": 2, "epochs": 1, "max_grad_norm": 1.0, "seed": 12}
    config = dataclasses.asdict(TransformerConfig())
    assert {name: config[name] for name in published} == published


def test_the_trainer_has_the_recipe_of_the_paper(torch, monkeypatch):
    from mtmeta.sentinel import _transformer

    def stop(self, **_):
        optimizer, given = self.create_optimizer(), self.args
        found = given.lr_scheduler_type.value, given.max_grad_norm, given.gradient_accumulation_steps
        raise RuntimeError(f"{type(optimizer).__name__}, rate {optimizer.param_groups[0]['lr']}, {found}")

    monkeypatch.setattr(_transformer.Trainer, "train", stop)
    with pytest.raises(RuntimeError, match=r"RAdam, rate 0\.002, \('constant', 1\.0, 2\)"):
        train(made_up())


@pytest.mark.slow
def test_an_interrupted_training_goes_on_and_ends_with_the_same_weights(tiny, few, tmp_path, torch):
    from transformers import Trainer

    step, seen = Trainer.training_step, []

    def interrupted(self, *given):
        seen.append(1)
        if len(seen) == 15:  # in the middle of the first stage, after a checkpoint
            raise KeyboardInterrupt
        return step(self, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "training_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train([few, few], checkpoints=tmp_path)
        assert list(tmp_path.rglob("trainer_state.json"))
        found = train([few, few], checkpoints=tmp_path)
        assert len(seen) < 15 + 2 * 20  # what was done before is not done again
    assert same_weights(found, tiny)
    assert same_weights(sentinel.load(tmp_path / "stage-2" / "sentinel"), tiny)
    assert same_weights(train([few, few], checkpoints=tmp_path), tiny)
    assert not list(tmp_path.rglob("checkpoint-*"))
    refuses("another training run", train, [few, few], checkpoints=tmp_path, seed=13)
    refuses("it is not empty and has no file run.json", train, few, checkpoints=tmp_path / "stage-1")


def test_transformer_comes_back_as_it_was_saved_and_goes_on(tiny, few, tmp_path):
    tiny.save(tmp_path / "s")
    again = mm.sentinel.load(tmp_path / "s")
    assert (again.score_frame(few) == tiny.score_frame(few)).all()
    assert (again.signature, again.config) == (tiny.signature, tiny.config)
    assert again.history == tiny.history
    assert {entry["stage"] for entry in again.history} == {1, 2}
    assert not [path.name for path in (tmp_path / "s").iterdir() if path.suffix in (".bin", ".py", ".pt", ".pkl")]
    assert not same_weights(train(few, start=again), tiny)
    assert same_weights(again, tiny)
    refuses("`start` must see the candidate", train, few, "candidate", start=tiny)
    refuses("`start` must see", train, few, start=tiny, head=(8,))
    (tmp_path / "s" / "model.safetensors").write_bytes(b"cut")
    refuses("the transformer sentinel in it is damaged", sentinel.load, tmp_path / "s")


@pytest.fixture(scope="module")
def checkpoint(tiny, tmp_path_factory):
    """Return a folder with the encoder of a sentinel, as Hugging Face has it."""
    folder = tmp_path_factory.mktemp("encoder")
    tiny.network.encoder.save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    return folder


def test_an_encoder_is_data_alone(few, checkpoint, tmp_path, torch):
    from safetensors.torch import load_file, save_file

    found = train(few.head(40), encoder=str(checkpoint), learning_rate=1e-30)
    weights = found.network.encoder.state_dict()
    stored = load_file(checkpoint / "model.safetensors")
    assert all(torch.equal(tensor, stored[name]) for name, tensor in weights.items() if "position_ids" not in name)
    evil = tmp_path / "evil"
    shutil.copytree(checkpoint, evil)
    config = json.loads((evil / "config.json").read_text())
    (evil / "config.json").write_text(json.dumps(config | {"model_type": "x", "auto_map": {"AutoModel": "m.M"}}))
    (evil / "m.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w')")
    pickled, cut = tmp_path / "pickled", tmp_path / "cut"
    shutil.copytree(checkpoint, pickled)
    (pickled / "model.safetensors").unlink()
    torch.save(weights, pickled / "pytorch_model.bin")
    shutil.copytree(checkpoint, cut)
    kept = {name: tensor.clone() for name, tensor in list(weights.items())[:5]}
    save_file(kept, cut / "model.safetensors", {"format": "pt"})
    for folder in (evil, pickled, cut, tmp_path / "none"):
        refuses("cannot be loaded. Give a checkpoint with safetensors", train, few, encoder=str(folder))
    assert not (tmp_path / "canary").exists()


def test_published_checkpoints_come_in(few, checkpoint, tmp_path, torch):
    found = train(few, "candidate", encoder=str(checkpoint))
    (tmp_path / "p" / "checkpoints").mkdir(parents=True)
    about = {"pretrained_model": str(checkpoint), "hidden_sizes": (512, 128), "dropout": 0.1, "sent_to_use": "mt"}
    about |= {"learning_rate": 1e-6, "batch_size": 8}
    (tmp_path / "p" / "hparams.yaml").write_text(json.dumps(about))
    # The published network: encoder.model, then estimator.ff on its first token.
    named = found.network.state_dict().items()
    weights = {name.replace("encoder.", "encoder.model.", 1).replace("head.", "estimator.ff."): v for name, v in named}
    torch.save(stored := {"state_dict": weights}, tmp_path / "p" / "checkpoints" / "model.ckpt")
    layers = [torch.nn.Linear(32, 512), torch.nn.Tanh(), torch.nn.Dropout(0.1)]
    layers += [torch.nn.Linear(512, 128), torch.nn.Tanh(), torch.nn.Dropout(0.1), torch.nn.Linear(128, 1)]
    head = torch.nn.Sequential(*layers).eval()
    part = "estimator.ff."
    head.load_state_dict({k[len(part) :]: v for k, v in stored["state_dict"].items() if k.startswith(part)})
    texts = few["translation"].unique()[:20].tolist()
    with torch.inference_mode():
        batch = found.tokenizer(texts, return_tensors="pt", padding=True)
        encoder = found.network.encoder.eval()
        hidden = encoder(batch["input_ids"], batch["attention_mask"]).last_hidden_state
        expected = head(hidden[:, 0]).squeeze(-1).numpy()
    np.testing.assert_allclose(found.score(texts), expected, rtol=0, atol=1e-6)
    again = sentinel.load(tmp_path / "p")
    assert (again.sees, again.config.head) == ("candidate", (512, 128))
    np.testing.assert_allclose(again.score(texts), found.score(texts), atol=1e-7)
    stored["state_dict"]["layerwise_attention.gamma"] = torch.ones(1)
    torch.save(stored, tmp_path / "p" / "checkpoints" / "model.ckpt")
    refuses("weights that no sentinel has, such as 'layerwise", sentinel.load, tmp_path / "p")
    (tmp_path / "p" / "checkpoints" / "model.ckpt").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    refuses("the published sentinel in it cannot be loaded", sentinel.load, tmp_path / "p")


def test_a_transformer_says_what_it_needs(frame, monkeypatch):
    monkeypatch.delattr(sentinel, "_transformer", raising=False)
    monkeypatch.delitem(sys.modules, "mtmeta.sentinel._transformer", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    message = r"torch is not installed: pip install 'mtmeta\[sentinel\]'"
    refuses(message, sentinel.fit, frame, sees="source", kind="transformer")


@pytest.mark.exhaustive
@pytest.mark.data
def test_no_wmt23_source_is_in_the_training_text(data_dir):
    mqm = [*mm.load_all("ted"), *mm.load_all("newstest2021")]
    found = sentinel.find_overlap(sentinel.training_frame([*mm.load_all("wmt17-da"), *mqm]), mm.load_all("wmt23"))
    assert not found["test_role"].str.contains("source|reference").any()
    # One stock phrase: three systems' output is also one training system's output.
    assert found[["test_role", "train_role"]].values.tolist() == [["translation", "translation"]]
    assert len(found["text"][0]) == 23
