"""One rule for values: which values are equal, how they differ, and how they are shown, copied and stored as JSON.

NumPy and the standard library only. pandas is used only for values that are pandas objects.
"""

from __future__ import annotations

from autograder.values.arrays import MAX_ITEMS, paste, shape_words, show, show_apart
from autograder.values.as_json import decode_value, encode_value
from autograder.values.containers import is_builtin
from autograder.values.copies import (
    call_key,
    changed_arguments,
    copy_argument,
    copy_value,
    fingerprint,
    normalize_result,
    precompute_keys,
)
from autograder.values.differences import text_difference
from autograder.values.findings import (
    RETURNED_NONE,
    Finding,
    describe,
    describe_failure,
    matches,
    named,
    wrong_structure,
    wrong_type,
)
from autograder.values.numbers import ATOL, RTOL, as_array, close, equal, tolerances
from autograder.values.tables import TableOptions, table_schema, with_table_options
from autograder.values.text import PLAIN, sorted_members, source

__all__ = [
    "ATOL", "MAX_ITEMS", "PLAIN", "RETURNED_NONE", "RTOL", "Finding", "TableOptions", "as_array", "call_key", "changed_arguments", "close",
    "copy_argument", "copy_value", "decode_value", "describe", "describe_failure", "encode_value", "equal", "fingerprint", "is_builtin",
    "matches", "named", "normalize_result", "paste", "precompute_keys", "shape_words", "show", "show_apart", "sorted_members", "source",
    "table_schema", "text_difference", "tolerances", "with_table_options", "wrong_structure", "wrong_type",
]  # fmt: skip
