"""Trees of built-in values that no encoder writes: days that do not exist, sets of lists, file names as time zones."""

FORGED = [
    ["date", 2023, 2, 30], ["set", ["l", 1]], ["zone", "../../etc/passwd"], ["bytes", "\u2603"], ["int", "f" * 10**6],
    ["gives", "map", True, ["gives"]], ["texts", [2**39], "x"], ["times", "<M8[D]", [1], "x"], ["decimal", "9" * 10**6],
]  # fmt: skip
# @RETURN FORGED@
