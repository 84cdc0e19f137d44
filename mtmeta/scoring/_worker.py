"""Run one neural metric on a CSV file. Executed by the Python that has the metric's package, which need not be ours.

python _worker.py OPTIONS INPUT OUTPUT, with the options as JSON: metric, model, batch_size, language

Scores are appended to OUTPUT as they come. It imports nothing but the standard library and the metric's package. Exit
status 3: the package is missing.
"""

import csv
import json
import sys
from pathlib import Path
from types import SimpleNamespace


def comet(options):
    """Load unbabel-comet; UniTE's score is one of `src_scores`, `ref_scores` and `unified_scores`."""
    import torch
    from comet import download_model, load_from_checkpoint

    path = Path(options.model).absolute()
    path = path / "checkpoints" / "model.ckpt" if path.is_dir() else path
    model = load_from_checkpoint(str(path) if path.is_file() else download_model(options.model))
    gpus = min(1, torch.cuda.device_count())

    def score(rows):
        data = [{"src": row["source"], "mt": row["translation"], "ref": row.get("reference")} for row in rows]
        without = [i for i, row in enumerate(data) if not row["ref"]]
        if without and model.requires_references():
            sys.exit(f"the model {options.model} needs a reference, and {len(without)} rows have none or an empty one")
        name, scores = options.metric.removeprefix("unite_"), [0.0] * len(rows)
        for some in (without, sorted({*range(len(rows))} - {*without})):  # a batch with one gap would lose them all
            texts = [{key: text for key, text in data[i].items() if text or key != "ref"} for i in some]
            if texts:
                output = model.predict(texts, batch_size=options.batch_size, gpus=gpus, progress_bar=False)
                found = output.scores if name == "comet" else output.metadata[f"{name}_scores"]
                for i, score in zip(some, found, strict=True):
                    scores[i] = score
        return scores

    return score


def metricx(options):
    """Load MetricX-24. It predicts errors, so scores are negated. The reference may be empty."""
    import torch
    from metricx24.models import MT5ForRegression
    from transformers import AutoTokenizer

    has_tokenizer = Path(options.model, "tokenizer_config.json").is_file()
    tokenizer = AutoTokenizer.from_pretrained(
        options.model if has_tokenizer else "google/mt5-xl", trust_remote_code=False
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = MT5ForRegression.from_pretrained(options.model, trust_remote_code=False).to(device).eval()

    def score(rows):
        scores = []
        for start in range(0, len(rows), options.batch_size):
            texts = [
                f"source: {row['source']} candidate: {row['translation']}"
                + (f" reference: {row['reference']}" if row.get("reference") else "")
                for row in rows[start : start + options.batch_size]
            ]
            ids = [text[:-1] for text in tokenizer(texts, max_length=1536, truncation=True)["input_ids"]]
            with torch.inference_mode():
                found = model(**tokenizer.pad({"input_ids": ids}, return_tensors="pt").to(device))
            scores += [-error for error in found.predictions.float().flatten().tolist()]
        return scores

    return score


def bleurt(options):
    """Load BLEURT."""
    from bleurt import score

    scorer = score.BleurtScorer(options.model)
    return lambda rows: scorer.score(
        references=[row["reference"] for row in rows],
        candidates=[row["translation"] for row in rows],
        batch_size=options.batch_size,
    )


def bertscore(options):
    """Load BERTScore, of which the F score is the score."""
    from bert_score import BERTScorer

    choice = {"model_type": options.model} if options.model else {"lang": options.language}
    scorer = BERTScorer(batch_size=options.batch_size, **choice)

    def score(rows):
        *_, f_scores = scorer.score([row["translation"] for row in rows], [row["reference"] for row in rows])
        return f_scores.tolist()

    return score


UNITE = dict.fromkeys(("unite_src", "unite_ref", "unite_unified"), comet)
METRICS = {"comet": comet, **UNITE, "metricx": metricx, "bleurt": bleurt, "bertscore": bertscore}


def main():
    """Read, score, write."""
    given, source, target = sys.argv[1:]
    options = SimpleNamespace(**json.loads(given))
    csv.field_size_limit(2**31 - 1)
    with open(source, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    try:
        score = METRICS[options.metric](options)
    except ModuleNotFoundError as error:
        print(error.name, file=sys.stderr)
        return 3
    at_once = 64 * options.batch_size
    with open(target, "a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for some in (rows[start : start + at_once] for start in range(0, len(rows), at_once)):
            writer.writerows([row["id"], repr(float(found))] for row, found in zip(some, score(some), strict=True))
            file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
