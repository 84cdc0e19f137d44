"""YAML files, read by the loader that builds nothing but texts, numbers, lists and mappings."""

from pathlib import Path
from typing import Any

import yaml

from ._files import read_text


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; raise `ValueError` with a message of one line if it is not YAML."""
    try:
        return yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}.") from None
