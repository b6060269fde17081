"""Compare values, describe their differences, and show, copy and store them, by the same rules everywhere.

All comparisons outside the sandbox use `equal`. Each family of types has a subclass of `family.Family` in one of these modules.
This package needs only NumPy and the standard library. pandas is used only for values that are pandas objects.
"""

from __future__ import annotations

from autograder.values.arrays import ArrayFamily
from autograder.values.as_json import decode_value, encode_value
from autograder.values.closeness import as_array, close, first_index, shape_words, tolerances
from autograder.values.containers import MappingFamily, RangeFamily, SequenceFamily, SetFamily, structure_difference
from autograder.values.copies import (
    call_key,
    changed_arguments,
    copy_argument,
    copy_arguments,
    normalize_result,
    precompute_keys,
)
from autograder.values.family import (
    ATOL,
    MAX_ITEMS,
    RTOL,
    Difference,
    Family,
    Rules,
    TableOptions,
    copy_value,
    describe,
    differences,
    equal,
    family_of,
    fingerprint,
    is_builtin,
    paste,
    paste_inputs,
    rank_families,
    returned_none,
    schema,
    show,
    show_apart,
    source,
    type_difference,
)
from autograder.values.messages import sorted_members
from autograder.values.numbers import NoneFamily, NumberFamily
from autograder.values.remote import OpaqueFamily, StandInFamily
from autograder.values.tables import PandasFamily, TableFamily
from autograder.values.text import BytesFamily, TextFamily, text_difference
from autograder.values.times import ExactNumberFamily, NumpyTimeFamily, TimeFamily

__all__ = [
    "ATOL", "MAX_ITEMS", "RTOL", "Difference", "Family", "Rules", "TableOptions", "as_array", "call_key", "changed_arguments", "close",
    "copy_argument", "copy_arguments", "copy_value", "decode_value", "describe", "differences", "encode_value", "equal", "family_of", "fingerprint",
    "first_index",
    "is_builtin", "normalize_result", "paste", "paste_inputs", "precompute_keys", "returned_none", "schema", "shape_words", "show", "show_apart", "sorted_members",
    "source", "structure_difference", "text_difference", "tolerances", "type_difference",
]  # fmt: skip

# A value belongs to the first family that owns it. Order matters: a pandas timestamp is a datetime, np.str_ is a str.
rank_families([
    TableFamily(), PandasFamily(), ArrayFamily(), TextFamily(), BytesFamily(), NumpyTimeFamily(), NumberFamily(), NoneFamily(),
    SequenceFamily(), RangeFamily(), MappingFamily(), SetFamily(), TimeFamily(), ExactNumberFamily(), OpaqueFamily(), StandInFamily(),
])  # fmt: skip
