# ruff: noqa: E501 - a line and what it says stay in one place
# fmt: off
"""Command lines that are wrong in themselves, or ask for what is not there: each with what its refusal says."""

OPTIONS: dict[str, str] = {
    "rank teaching --protocol wmt99": "Invalid value for '--protocol'",
    "difference chrf 1": "unknown metric in WMT23: 'chrf'. Did you mean 'chrF'",
    "validate teaching -o .": "is a directory",
    "local-accuracy teaching-ranking --format tsv": "[ct]sv holds one table",
    "compare teaching Judge Judge": "must be distinct; found more than once: 'Judge'",
    "run 8 --scores teaching-ranking --system A": "systems can be chosen in sets of translations only",
    "fetch ../../etc": "unknown data set",
    "fetch wmt23/../x": "sets are fetched whole: ask for 'wmt23'",
    "validate teaching teaching": "names of sets must be distinct",
    "validate teachin": "unknown set 'teachin'.*Did you mean 'teaching'",
    "report .": "is a folder without human-scores/",
    "run ../../x --scores teaching": "there is no chapter '.*'; expected all, or a number or name of: 01_scores_and_agreement, 02_significance",
    "report teaching-ranking": "holds rankings; expected translations",
}
