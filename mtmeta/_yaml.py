"""YAML files, read by the loader that builds nothing but texts, numbers, lists and mappings."""

from typing import Any

import yaml


def parse(text: str) -> Any:
    """Return the content of one YAML document; raise `ValueError` with a message of one line if it is not YAML."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{' '.join(str(error).split())}.") from None
