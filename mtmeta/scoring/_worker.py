"""Run one neural metric on a CSV file. Executed by the Python that has the metric's package, which need not be ours.

python _worker.py OPTIONS INPUT OUTPUT, with the options as JSON: metric, model, batch_size, gpus, language

It imports nothing but the standard library and the metric's package. Exit status 3: the package is missing.
"""

import csv
import json
import sys
from types import SimpleNamespace


def comet(rows, options):
    """Return the scores of unbabel-comet; of UniTE one of `src_scores`, `ref_scores` and `unified_scores`."""
    from comet import download_model, load_from_checkpoint

    model = load_from_checkpoint(download_model(options.model))
    data = [{"src": row["source"], "mt": row["translation"], "ref": row.get("reference")} for row in rows]
    data = [{key: text for key, text in row.items() if text or key != "ref"} for row in data]
    output = model.predict(data, batch_size=options.batch_size, gpus=options.gpus, progress_bar=False)
    name = options.metric.removeprefix("unite_")
    return list(output.scores if name == "comet" else output.metadata[f"{name}_scores"])


def bleurt(rows, options):
    """Return the scores of BLEURT."""
    from bleurt import score

    texts = {key: [row[key] for row in rows] for key in ("reference", "translation")}
    return score.BleurtScorer(options.model).score(
        references=texts["reference"], candidates=texts["translation"], batch_size=options.batch_size
    )


def bertscore(rows, options):
    """Return the F scores of BERTScore."""
    from bert_score import score

    candidates, references = ([row[key] for row in rows] for key in ("translation", "reference"))
    choice = {"model_type": options.model} if options.model else {"lang": options.language}
    return score(candidates, references, batch_size=options.batch_size, **choice)[2].tolist()


UNITE = dict.fromkeys(("unite_src", "unite_ref", "unite_unified"), comet)
METRICS = {"comet": comet, **UNITE, "bleurt": bleurt, "bertscore": bertscore}


def main():
    """Read, score, write."""
    given, source, target = sys.argv[1:]
    options = SimpleNamespace(**json.loads(given))
    csv.field_size_limit(2**31 - 1)
    with open(source, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    try:
        scores = METRICS[options.metric](rows, options)
    except ModuleNotFoundError as error:
        print(error.name, file=sys.stderr)
        return 3
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "score"])
        writer.writerows([row["id"], repr(float(score))] for row, score in zip(rows, scores, strict=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
