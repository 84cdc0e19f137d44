"""Read YAML that anybody may have written; nothing in it is executed, expanded or dropped."""

from typing import Any

import yaml

#: Far above what a plan or a table of contents needs, far below what hurts.
MAX_BYTES = 100_000


class _Strict(yaml.SafeLoader):
    """Refuses dangerous or ambiguous content before anything is built from it."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()
        if getattr(event, "anchor", None) is not None:  # an alias has one too
            where = f"line {event.start_mark.line + 1}"
            raise ValueError(f"{where}: anchors (&) and aliases (*) are not allowed; write the values out.")
        return super().compose_node(parent, index)

    def compose_mapping_node(self, anchor: None) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            where = f"line {key.start_mark.line + 1}"
            if key.tag.endswith(":merge"):
                raise ValueError(f"{where}: merge keys (<<) are not allowed; write the values out.")
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise ValueError(f"{where}: {key.value!r} is given twice.")
                seen.add(key.value)
        return node


def parse(text: str) -> Any:
    """Return the content of one YAML document.

    Raises
    ------
    ValueError
        If it is no YAML, larger than is ever needed, holds Python objects, anchors, aliases or merge keys, or
        gives a key twice. The message is one line.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES:,} bytes, which nothing needs.")
    try:
        return _Strict(text).get_single_data()
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ValueError(f"{line}{' '.join(filter(None, (error.context, error.problem)))}.") from None
    except RecursionError:
        raise ValueError("nested too deeply.") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{' '.join(str(error).split())}.") from None
