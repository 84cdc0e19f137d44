# ruff: noqa: E501 - a line and what it says stay in one place
# fmt: off
"""Command lines that are wrong in themselves, or ask for what is not there: each with what its refusal says."""

OPTIONS: dict[str, str] = {
    "rank teaching --protocol wmt99": "Invalid value for '--protocol'",
    "difference chrf 1": "unknown metric in WMT23: 'chrf'. Did you mean 'chrF'",
    "difference BLEU 1 --segments 100": "no curve of 'BLEU' for 100 segments; the smallest is for 557.*--set my_scores.csv",
    "difference SourceOnly 1 --set teaching": "gives all systems of a set one score",
    "validate teaching -o .": "is a directory",
    "fetch": "give names of sets, or --list",
    "local-accuracy teaching-ranking --format tsv": "[ct]sv holds one table",
    "compare teaching Judge Judge": "must be distinct; found more than once: 'Judge'",
    "run 8 --scores teaching-ranking --system A": "systems can be chosen in sets of translations only",
    "report teaching -o x.pdf": r"Unsupported output format '\.pdf'. Use one of",
    "sweep": "give a plan, or --example",
    "fetch wmt32": "unknown data set 'wmt32'. Did you mean 'wmt23'",
    "fetch ../../etc": "unknown data set",
    "fetch wmt23/../x": "sets are fetched whole: ask for 'wmt23'",
    "validate teaching teaching": "names of sets must be distinct",
    "validate teachin": "unknown set 'teachin'.*Did you mean 'teaching'",
    "validate wmt23/xx-yy": "wmt23 is not on this computer",
    "report .": "is a folder without human-scores/",
    "validate teaching --metrics-from .": "--metrics-from does not apply to the teaching set",
    "run ../../x --scores teaching": "there is no chapter '.*'; expected all, or a number or name of: 01_scores_and_agreement, 02_significance",
    "sentinel score /dev/null teaching": "(contains no sentinel|cannot read)",
    "report teaching-ranking": "holds rankings; expected translations",
}
