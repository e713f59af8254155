"""An interpreter for the pseudo-code of AMD's instruction set documents, over numpy arrays.

One array element is one lane. Integers are Python ints in object arrays (any width, exact), floats
are float64 arrays that hold values of a named format; every float operation rounds once to its
format. `if` becomes a mask under which assignments take effect.

Text comes from the `tinygrad` wheel, which carries the documents' pseudo-code as a dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tests.isa import formats
from tests.isa.formats import FORMATS


class PcodeError(Exception):
    """The text cannot be parsed or evaluated."""


# --- values ------------------------------------------------------------------------------------


@dataclass
class Int:
    """Integers of `width` bits. `data` is normalised: signed values may be negative."""

    data: np.ndarray  # object array of Python ints
    width: int
    signed: bool = False
    bits_only: bool = False  # raw bits: takes its interpretation from a type suffix


@dataclass
class Float:
    data: np.ndarray  # float64
    fmt: str  # a key of FORMATS


Value = Int | Float


def wrap(data: np.ndarray, width: int, signed: bool) -> np.ndarray:
    low = data & ((1 << width) - 1)
    return np.where(low >= (1 << (width - 1)), low - (1 << width), low) if signed else low


def object_array(values: Any, lanes: int) -> np.ndarray:
    out = np.empty(lanes, dtype=object)
    if np.ndim(values) == 0:
        out[:] = values.item() if isinstance(values, np.generic) else values
    else:
        # Through a list of Python ints: an array of mixed big ints would turn into floats.
        out[:] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return out


def make_int(
    values: Any, lanes: int, width: int = 32, signed: bool = False, bits_only: bool = False
) -> Int:
    return Int(wrap(object_array(values, lanes), width, signed), width, signed, bits_only)


def to_bits(value: Value) -> np.ndarray:
    """Bits of a value in its own width, as an object array."""
    if isinstance(value, Int):
        return value.data & ((1 << value.width) - 1)
    return object_array(formats.encode(value.data, FORMATS[value.fmt]), len(value.data))


def width_of(value: Value) -> int:
    return value.width if isinstance(value, Int) else FORMATS[value.fmt].bits


def from_bits(bits: np.ndarray, type_name: str) -> Value:
    """Low bits of `bits` read as a type such as u32, f16 or b64."""
    if type_name in FORMATS:
        fmt = FORMATS[type_name]
        low = (bits & ((1 << fmt.bits) - 1)).astype(np.uint64)
        return Float(formats.decode(low, fmt), type_name)
    kind, width = type_name[0], int(type_name[1:])
    return Int(wrap(bits, width, kind == "i"), width, kind == "i", kind == "b")


def truth(value: Value) -> np.ndarray:
    return (value.data != 0).astype(bool)


# --- lexer and parser --------------------------------------------------------------------------

TOKEN = re.compile(
    r"""\s*(?:
    (?P<cast>\d+'(?:BF|[UIFB])(?![\w]))
  | (?P<sized>\d+'-?(?:0x[0-9a-fA-F]+|\d+\.\d+|\d+)[UF]?)
  | (?P<hex>0x[0-9a-fA-F]+(?:ULL|LL|U)?)
  | (?P<float>\d+\.\d+F?)
  | (?P<int>\d+(?:ULL|LL|U)?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<op>\+:|<>|==|!=|<=|>=|<<|>>|&&|\|\||\+=|-=|\*\*|[-+*/%&|^~!<>=?:;.,(){}\[\]])
)""",
    re.X,
)

PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<>": 6, "<": 7, ">": 7, "<=": 7,
    ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "**": 11,
}  # fmt: skip

TYPE_SUFFIX = re.compile(r"^(?:[uib]\d+|f16|f32|f64|bf16|fp8|bf8|fp6|bf6|fp4)$")


def tokenize(text: str) -> list[tuple[str, str]]:
    text = re.sub(r"//[^\n]*", "", text)
    tokens, pos = [], 0
    while text[pos:].strip():
        match = TOKEN.match(text, pos)
        if not match:
            raise PcodeError(f"cannot read {text[pos : pos + 40]!r}")
        tokens.append((match.lastgroup, match.group(match.lastgroup)))
        pos = match.end()
    return tokens


class Parser:
    """Recursive descent; nodes are tuples (kind, ...)."""

    def __init__(self, text: str):
        self.tokens = tokenize(text)
        self.pos = 0

    def peek(self, ahead: int = 0) -> str:
        at = self.pos + ahead
        return self.tokens[at][1] if at < len(self.tokens) else ""

    def next(self) -> tuple[str, str]:
        self.pos += 1
        return self.tokens[self.pos - 1]

    def accept(self, text: str) -> bool:
        if self.peek() == text:
            self.pos += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise PcodeError(f"expected {text!r}, found {self.peek()!r}")

    def block(self, *ends: str) -> list[tuple]:
        statements = []
        while self.peek() and self.peek() not in ends:
            if not self.accept(";"):
                statements.append(self.statement())
        return statements

    def statement(self) -> tuple:
        if self.accept("if"):
            arms, other = [], []
            condition = self.expression()
            self.expect("then")
            arms.append((condition, self.block("elsif", "else", "endif")))
            while self.accept("elsif"):
                condition = self.expression()
                self.expect("then")
                arms.append((condition, self.block("elsif", "else", "endif")))
            if self.accept("else"):
                other = self.block("endif")
            self.expect("endif")
            return ("if", arms, other)
        if self.accept("for"):
            name = self.next()[1]
            self.expect("in")
            low = self.expression()
            self.expect(":")
            high = self.expression()
            self.expect("do")
            body = self.block("endfor")
            self.expect("endfor")
            return ("for", name, low, high, body)
        if self.accept("declare"):
            name = self.next()[1]
            self.expect(":")
            cast = self.next()[1]
            count = None
            if self.accept("["):
                count = int(self.next()[1])
                self.expect("]")
            return ("declare", name, cast, count)
        if self.accept("break"):
            return ("break",)
        if self.accept("return"):
            return ("return", self.expression())
        if self.peek(1) == "=" and self.peek(2) == "lambda":
            name = self.next()[1]
            self.pos += 2
            self.expect("(")
            params = []
            while not self.accept(")"):
                params.append(self.next()[1])
                self.accept(",")
            self.expect("(")
            body = self.block(")")
            self.expect(")")
            return ("lambda", name, params, body)
        targets = [self.expression()]
        operator = self.peek()
        if operator in ("+=", "-="):
            self.next()
            target = targets[0]
            return ("assign", [target], ("binary", operator[0], target, self.expression()))
        while self.accept("="):
            targets.append(self.expression())
        if len(targets) == 1:
            return ("value", targets[0])
        return ("assign", targets[:-1], targets[-1])

    def expression(self, minimum: int = 0) -> tuple:
        left = self.unary()
        while PRECEDENCE.get(self.peek(), 0) > minimum:
            operator = self.next()[1]
            left = ("binary", operator, left, self.expression(PRECEDENCE[operator]))
        if minimum == 0 and self.accept("?"):
            yes = self.expression()
            self.expect(":")
            return ("select", left, yes, self.expression())
        return left

    def unary(self) -> tuple:
        if self.peek() in ("-", "+", "!", "~"):
            operator = self.next()[1]
            return ("unary", operator, self.unary())
        return self.postfix(self.primary())

    def postfix(self, node: tuple) -> tuple:
        while True:
            if self.accept("."):
                node = ("member", node, self.next()[1])
            elif self.accept("["):
                first = self.expression()
                if self.accept("+:"):
                    node = ("part", node, first, self.expression())
                elif self.accept(":"):
                    node = ("slice", node, first, self.expression())
                else:
                    node = ("index", node, first)
                self.expect("]")
            else:
                return node

    def primary(self) -> tuple:
        kind, text = self.next()
        if kind == "cast":
            self.expect("(")
            inner = self.expression()
            self.expect(")")
            return ("cast", text, inner)
        if kind == "sized":
            width, rest = text.split("'")
            if "." in rest:
                return ("float", float(rest.rstrip("F")), f"f{width}")
            unsigned = rest.endswith("U") and not rest.startswith("0x")
            return ("int", int(rest.rstrip("U"), 0), int(width), not unsigned)
        if kind in ("hex", "int"):
            digits = text.rstrip("UL")
            suffix = text[len(digits) :]
            return ("int", int(digits, 0), 64 if "LL" in suffix else 32, "U" not in suffix)
        if kind == "float":
            return ("float", float(text.rstrip("F")), "f32" if text.endswith("F") else "f64")
        if text == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if text == "{":
            parts = [self.expression()]
            while self.accept(","):
                parts.append(self.expression())
            self.expect("}")
            return ("concat", parts)
        if kind == "name":
            if self.accept("("):
                args = []
                while not self.accept(")"):
                    args.append(self.expression())
                    self.accept(",")
                return ("call", text, args)
            return ("name", text)
        raise PcodeError(f"unexpected {text!r}")


@cache
def parse(text: str) -> tuple:
    return tuple(Parser(text).block())


# --- evaluation --------------------------------------------------------------------------------

UNTYPED_WIDTH = 1024  # of a temporary that is first written in slices


class Machine:
    """Runs one instruction's text for all lanes at once.

    `env` holds Values by name; D0, S0.. are raw bits. `lane_bits` names that, indexed by laneId,
    are per-lane single bits (VCC, EXEC, or D0 of a compare). `memory` is what MEM[address] names:
    bytes [waves, size], one row for each 64 lanes.
    """

    def __init__(
        self,
        lanes: int,
        env: dict[str, Value],
        *,
        ieee: bool = True,
        mode: str = "rne",
        saturate: bool = False,
        stochastic: str = "zero",
        saturate_fp8: bool = False,
        memory: np.ndarray | None = None,
    ):
        self.lanes = lanes
        self.env: dict[str, Any] = dict(env)
        self.env.setdefault("laneId", make_int(np.arange(lanes) % 64, lanes))
        self.ieee = ieee
        self.mode = mode  # rounding
        self.saturate = saturate  # integer clamp: no wrap inside, saturate at typed stores
        self.memory = memory
        self.lambdas: dict[str, tuple] = {}
        self.stochastic = stochastic  # how stochastic conversions round: zero or away
        self.saturate_fp8 = saturate_fp8  # fp8 and bf8 overflow to the largest value
        self.live = np.ones(lanes, dtype=bool)  # lanes that have not left the loop or lambda
        self.returned: Value | None = None

    # -- statements --

    def run(self, text: str) -> None:
        with np.errstate(all="ignore"):
            self.block(parse(text), np.ones(self.lanes, dtype=bool))

    def block(self, statements: Any, mask: np.ndarray) -> None:
        for statement in statements:
            self.statement(statement, mask & self.live)

    def statement(self, node: tuple, mask: np.ndarray) -> None:
        kind = node[0]
        if kind == "assign" and node[1][0] == ("name", "ROUND_MODE"):
            # Set for the whole instruction; the text restores it at its end.
            self.mode = ROUND_MODES.get(node[2][1], self.mode)
        elif kind == "assign" and node[2] == ("name", "ROUND_MODE"):
            pass
        elif kind == "assign":
            value = self.evaluate(node[2])
            for target in reversed(node[1]):
                self.assign(target, value, mask)
        elif kind == "if":
            left = mask
            for condition, body in node[1]:
                taken = left & truth(self.evaluate(condition))
                left = left & ~taken
                if taken.any():
                    self.block(body, taken)
            if left.any():
                self.block(node[2], left)
        elif kind == "for":
            self.loop(node, mask)
        elif kind == "declare":
            self.declare(node)
        elif kind == "break":
            self.live = self.live & ~mask
        elif kind == "return":
            self.returned = self.merge(mask, self.evaluate(node[1]), self.returned)
            self.live = self.live & ~mask
        elif kind == "lambda":
            self.lambdas[node[1]] = (node[2], node[3])
        elif kind == "value":
            self.returned = self.evaluate(node[1])
        else:
            raise PcodeError(f"statement {kind}")

    def loop(self, node: tuple, mask: np.ndarray) -> None:
        _, name, low, high, body = node
        first = int(self.evaluate(low).data[0])
        last = int(self.evaluate(high).data[0])
        outer = self.live
        for i in range(first, last + 1):
            self.env[name] = make_int(i, self.lanes, 32, True)
            self.block(body, mask)
            if not (self.live & mask).any():
                break
        self.live = outer

    def declare(self, node: tuple) -> None:
        _, name, cast, count = node
        if name in self.env:  # a register that the text declares only for its type
            return
        width, kind = cast.split("'")
        if kind == "F":
            zero: Value = Float(np.zeros(self.lanes), f"f{width}")
        else:
            zero = make_int(0, self.lanes, int(width), kind == "I", kind == "B")
        self.env[name] = zero if count is None else [zero] * count

    # -- memory --

    def load(self, address: np.ndarray, size: int) -> np.ndarray:
        rows = [
            self.memory[lane // 64, int(a) : int(a) + size].tobytes()
            for lane, a in enumerate(address)
        ]
        return object_array([int.from_bytes(r, "little") for r in rows], self.lanes)

    def store(self, address: np.ndarray, bits: np.ndarray, size: int, mask: np.ndarray) -> None:
        for lane in np.flatnonzero(mask & self.mask_of_lanes()):
            raw = (int(bits[lane]) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
            at = int(address[lane])
            self.memory[lane // 64, at : at + size] = np.frombuffer(raw, np.uint8)

    def mask_of_lanes(self) -> np.ndarray:
        """Lanes that may touch memory."""
        mask = self.env.get("EXEC.lane")
        return np.ones(self.lanes, dtype=bool) if mask is None else truth(mask)

    # -- assignment --

    def assign(self, target: tuple, value: Value, mask: np.ndarray) -> None:
        kind = target[0]
        place, type_name = (target[1], target[2]) if kind == "member" else (target, "b32")
        if is_memory(place):
            size = width_for(type_name) // 8
            self.store(self.evaluate(place[2]).data, self.store_bits(value, type_name), size, mask)
        elif kind == "concat":
            offset = sum(self.target_width(part) for part in target[1])
            bits = to_bits(value)
            for part in target[1]:
                width = self.target_width(part)
                offset -= width
                self.assign(part, Int(wrap(bits >> offset, width, False), width, False, True), mask)
        elif kind == "name":
            self.assign_name(target[1], value, mask)
        elif kind == "member":
            self.assign_typed(target, value, mask)
        elif kind in ("index", "slice", "part"):
            self.assign_bits(target, None, value, mask)
        else:
            raise PcodeError(f"cannot assign to {kind}")

    def target_width(self, node: tuple) -> int:
        if node[0] == "member":
            return int(re.sub(r"\D", "", node[2]))
        return width_of(self.env[node[1]])

    def assign_name(self, name: str, value: Value, mask: np.ndarray) -> None:
        old = self.env.get(name)
        if isinstance(old, Int) and old.bits_only and name in REGISTERS:
            bits = to_bits(value)
            width = max(width_of(value), 32)
            keep = old.data >> width << width
            self.env[name] = Int(np.where(mask, keep | bits, old.data), old.width, False, True)
        elif name == "SCC":
            self.env[name] = self.merge(mask, Int(truth(value).astype(object) * 1, 1), old)
        else:
            self.env[name] = self.merge(mask, value, old)

    def assign_typed(self, target: tuple, value: Value, mask: np.ndarray) -> None:
        _, base, type_name = target
        if base[0] == "name":
            name = base[1]
            if name in REGISTERS and name in self.env:
                self.write_bits(
                    name, 0, self.store_bits(value, type_name), width_for(type_name), mask
                )
            else:
                self.env[name] = self.merge(mask, self.retype(value, type_name), self.env.get(name))
        else:
            self.assign_bits(base, type_name, value, mask)

    def assign_bits(
        self, target: tuple, type_name: str | None, value: Value, mask: np.ndarray
    ) -> None:
        """Target is a slice, part or bit of a register or temporary."""
        base = target[1]
        if is_lane_index(target):
            self.env[lane_bit_name(base)] = self.merge(
                mask, Int(truth(value).astype(object) * 1, 1), None
            )
            return
        low, width = self.bit_range(target)
        while base[0] == "member" or (base[0] == "index" and root_name(base) == "VGPR"):
            base = base[1]
        name = base[1]
        if name == "VGPR":  # VGPR[laneId][VDST.u32][...]: this lane's destination
            name = "D0"
        if isinstance(self.env.get(name), list):
            index = int(self.evaluate(target[2]).data[0])
            old = self.env[name][index]
            items = list(self.env[name])
            items[index] = self.merge(mask, self.retype(value, type_name_of(old)), old)
            self.env[name] = items
            return
        bits = self.store_bits(value, type_name) if type_name else to_bits(value)
        self.write_bits(name, low, bits, width, mask)

    def store_bits(self, value: Value, type_name: str) -> np.ndarray:
        """Bits that storing `value` through a typed reference leaves."""
        if type_name in FORMATS:
            if isinstance(value, Float) and value.fmt != type_name:
                value = Float(
                    formats.round_to(value.data, FORMATS[type_name], self.mode), type_name
                )
            return to_bits(value)
        if self.saturate and isinstance(value, Int) and not value.bits_only:
            return saturated(value.data, type_name)
        return to_bits(value)

    def write_bits(
        self, name: str, low: Any, bits: np.ndarray, width: int, mask: np.ndarray
    ) -> None:
        old = self.env.get(name)
        if old is None:
            old = make_int(0, self.lanes, UNTYPED_WIDTH, False, True)
        field = (1 << width) - 1
        old_bits = to_bits(old)
        new = (old_bits & ~(field << low)) | ((bits & field) << low)
        new = np.where(mask, new, old_bits)
        if isinstance(old, Float):
            self.env[name] = from_bits(new, old.fmt)
        else:
            self.env[name] = Int(
                wrap(new, old.width, old.signed), old.width, old.signed, old.bits_only
            )

    def merge(self, mask: np.ndarray, new: Value, old: Value | None) -> Value:
        if old is None or mask.all():
            return new
        if isinstance(new, Float) and isinstance(old, Float):
            fmt = new.fmt if FORMATS[new.fmt].bits >= FORMATS[old.fmt].bits else old.fmt
            return Float(np.where(mask, new.data, old.data), fmt)
        if isinstance(new, Float) or isinstance(old, Float):
            width = max(width_of(new), width_of(old))
            return Int(np.where(mask, to_bits(new), to_bits(old)), width, False, True)
        return Int(
            np.where(mask, new.data, old.data), max(new.width, old.width), new.signed, new.bits_only
        )

    def retype(self, value: Value, type_name: str) -> Value:
        if isinstance(value, Float) and type_name in FORMATS:
            return Float(formats.round_to(value.data, FORMATS[type_name], self.mode), type_name)
        return from_bits(to_bits(value), type_name)

    def bit_range(self, node: tuple) -> tuple[Any, int]:
        """(lowest bit, width) of an index, slice or part; the lowest bit may differ by lane."""
        if node[0] == "index":
            return self.evaluate(node[2]).data, 1
        if node[0] == "part":
            return self.evaluate(node[2]).data, int(self.evaluate(node[3]).data[0])
        high, low = self.evaluate(node[2]).data, self.evaluate(node[3]).data
        return low, int(high[0] - low[0]) + 1

    # -- expressions --

    def evaluate(self, node: tuple) -> Value:
        return getattr(self, "eval_" + node[0])(node)

    def eval_int(self, node: tuple) -> Value:
        return make_int(node[1], self.lanes, node[2], node[3])

    def eval_float(self, node: tuple) -> Value:
        return Float(np.full(self.lanes, node[1]), node[2])

    def eval_name(self, node: tuple) -> Value:
        name = node[1]
        if name in self.env:
            return self.env[name]
        if name == "INF":
            return Float(np.full(self.lanes, np.inf), "f64")
        if name == "NAN":
            return Float(np.full(self.lanes, np.nan), "f64")
        if name == "PI":
            return Float(np.full(self.lanes, np.pi), "f64")
        if name == "OVERFLOW_F32" or name == "OVERFLOW_F64":
            return Float(np.full(self.lanes, np.inf), "f" + name[-2:])
        if name == "UNDERFLOW_F32" or name == "UNDERFLOW_F64":
            return Float(np.zeros(self.lanes), "f" + name[-2:])
        raise PcodeError(f"unknown name {name}")

    def eval_member(self, node: tuple) -> Value:
        _, base, type_name = node
        if base == ("name", "WAVE_MODE") and type_name == "IEEE":
            return make_int(int(self.ieee), self.lanes, 1)
        if not TYPE_SUFFIX.match(type_name):
            raise PcodeError(f"unknown member .{type_name}")
        if base[0] == "name" and base[1] in ("INF", "NAN"):
            return Float(self.eval_name(base).data, type_name)
        if is_memory(base):
            address = self.evaluate(base[2]).data
            return from_bits(self.load(address, width_for(type_name) // 8), type_name)
        value = self.evaluate(base)
        if isinstance(value, Float):
            if type_name == value.fmt:
                return value
            if type_name in FORMATS and FORMATS[type_name].bits != width_of(value):
                return Float(formats.round_to(value.data, FORMATS[type_name], self.mode), type_name)
            return from_bits(to_bits(value), type_name)
        if self.saturate and type_name[0] in "ui" and not value.bits_only:
            if int(type_name[1:]) >= 32:
                return value  # keep the unwrapped number for the saturating store
            return from_bits(saturated(value.data, type_name), type_name)
        # A suffix widens by the value's own sign.
        data = value.data if value.signed else to_bits(value)
        return from_bits(data, type_name)

    def eval_index(self, node: tuple) -> Value:
        _, base, index = node
        if is_memory(node):
            return from_bits(self.load(self.evaluate(index).data, 4), "b32")
        if is_lane_index(node):
            return self.env[lane_bit_name(base)]
        if root_name(base) == "VGPR" and base[0] == "index":
            # VGPR[lane][SRC0.u32]: the source register of another lane (or of this one)
            rows = self.evaluate(base[2]).data.astype(np.int64)
            source = self.env[{"SRC0": "S0", "VDST": "D0"}[root_name(index)]]
            waves = np.arange(self.lanes) // 64 * 64
            return Int(source.data[waves + rows], source.width, False, True)
        if base[0] == "name" and isinstance(self.env.get(base[1]), list):
            return self.element(self.env[base[1]], self.evaluate(index).data)
        value = to_bits(self.evaluate(base))
        low = self.evaluate(index).data
        return Int((value >> low) & 1, 1, False, True)

    def element(self, items: list[Value], index: np.ndarray) -> Value:
        out = items[0]
        for i, item in enumerate(items):
            out = self.merge(np.asarray(index == i, dtype=bool), item, out)
        return out

    def eval_slice(self, node: tuple) -> Value:
        value = to_bits(self.evaluate(node[1]))
        high, low = self.evaluate(node[2]).data, self.evaluate(node[3]).data
        if high[0] < low[0]:  # [0 : 31] reverses the bits
            width = int(low[0] - high[0]) + 1
            reverse = [
                int(format(int(v) & ((1 << width) - 1), f"0{width}b")[::-1], 2) for v in value
            ]
            return Int(object_array(reverse, self.lanes), width, False, True)
        width = int(high[0] - low[0]) + 1
        return Int((value >> low) & ((1 << width) - 1), width, False, True)

    def eval_part(self, node: tuple) -> Value:
        low, width = self.bit_range(node)
        return Int(
            (to_bits(self.evaluate(node[1])) >> low) & ((1 << width) - 1), width, False, True
        )

    def eval_concat(self, node: tuple) -> Value:
        total = np.zeros(self.lanes, dtype=object)
        width = 0
        for part in node[1]:
            value = self.evaluate(part)
            total = (total << width_of(value)) | to_bits(value)
            width += width_of(value)
        return Int(total, width, False, True)

    def eval_cast(self, node: tuple) -> Value:
        width_text, kind = node[1].split("'")
        value = self.evaluate(node[2])
        if kind in ("F", "BF"):
            fmt = ("bf" if kind == "BF" else "f") + width_text
            if isinstance(value, Float):
                return Float(formats.round_to(value.data, FORMATS[fmt], self.mode), fmt)
            return from_bits(to_bits(value), fmt)
        width = int(width_text)
        data = to_bits(value) if isinstance(value, Float) else value.data
        if self.saturate and width >= 32:
            return Int(data, width, kind == "I", False)
        return Int(wrap(data, width, kind == "I"), width, kind == "I", kind == "B")

    def eval_unary(self, node: tuple) -> Value:
        value = self.evaluate(node[2])
        operator = node[1]
        if operator == "+":
            return value
        if operator == "!":
            return Int((~truth(value)).astype(object) * 1, 1)
        if isinstance(value, Float):
            if operator == "-":
                flipped = formats.f64_bits(value.data) ^ np.uint64(1 << 63)
                return Float(flipped.view(np.float64), value.fmt)
            raise PcodeError(f"{operator} of a float")
        data = -value.data if operator == "-" else ~value.data
        if operator == "-":
            width = max(value.width, 32)
            return Int(wrap(data, width, True), width, True)
        return Int(wrap(data, value.width, value.signed), value.width, value.signed)

    def eval_select(self, node: tuple) -> Value:
        condition = truth(self.evaluate(node[1]))
        yes, no = self.evaluate(node[2]), self.evaluate(node[3])
        merged = self.merge(condition, yes, no)
        if not condition.any():
            return no
        if isinstance(yes, Int) and isinstance(no, Int) and not condition.all():
            merged.signed = yes.signed and no.signed
        return merged

    def eval_binary(self, node: tuple) -> Value:
        _, operator, left_node, right_node = node
        left, right = self.evaluate(left_node), self.evaluate(right_node)
        if operator == "==" and right_node[0] == "unary" and right_node[2][:2] == ("float", 0.0):
            # "== +0.0" and "== -0.0" ask for the sign, too.
            return self.boolean(
                (left.data == 0) & (np.signbit(left.data) == (right_node[1] == "-"))
            )
        if operator in ("&&", "||"):
            a, b = truth(left), truth(right)
            return self.boolean(a & b if operator == "&&" else a | b)
        if isinstance(left, Float) or isinstance(right, Float):
            return self.float_binary(operator, left, right)
        return self.int_binary(operator, left, right)

    def boolean(self, data: np.ndarray) -> Int:
        return Int(np.asarray(data, dtype=bool).astype(object) * 1, 1)

    def float_binary(self, operator: str, left: Value, right: Value) -> Value:
        fmt = wider_format(left, right)
        a, b = as_float(left), as_float(right)
        if operator in COMPARE:
            return self.boolean(
                COMPARE[operator](a, b) & ~((np.isnan(a) | np.isnan(b)) & (operator == "<>"))
            )
        if operator in "+-":
            addend = -b if operator == "-" else b
            wide = a + addend if fmt == "f64" else formats.two_sum_odd(a, addend)
            wide = formats.signed_zero_sum(a, addend, wide, self.mode)
        elif operator == "*":
            wide = a * b
        elif operator == "/":
            wide = a / b
        elif operator == "**":
            wide = np.power(a, b)
        else:
            raise PcodeError(f"float operator {operator}")
        return Float(formats.round_to(wide, FORMATS[fmt], self.mode), fmt)

    def int_binary(self, operator: str, left: Int, right: Int) -> Value:
        a, b = left.data, right.data
        if operator in COMPARE:
            if left.signed != right.signed and not (left.bits_only or right.bits_only):
                width = max(left.width, right.width)  # mixed: compared as unsigned, like C
                a, b = wrap(a, width, False), wrap(b, width, False)
            return self.boolean(COMPARE[operator](a, b))
        if operator in ("<<", ">>"):
            width = max(left.width, 32)
            amount = b & 0xFFFF
            data = a << amount if operator == "<<" else a >> amount
            if not self.saturate:
                data = wrap(data, width, left.signed)
            return Int(data, width, left.signed)
        width = max(left.width, right.width, 32)
        signed = left.signed and right.signed
        if operator in ("&", "|", "^") and left.bits_only and right.bits_only:
            width = max(left.width, right.width)
        data = INT_BINARY[operator](a, b)
        if not self.saturate or operator in ("&", "|", "^"):
            data = wrap(data, width, signed)
        return Int(data, width, signed)

    def eval_call(self, node: tuple) -> Value:
        _, name, arg_nodes = node
        args = [self.evaluate(arg) for arg in arg_nodes]
        if name in self.lambdas:
            return self.call_lambda(name, args)
        if name.startswith("v_") and name not in BUILTINS:
            return self.call_instruction(name, args)
        if name in BUILTINS:
            return BUILTINS[name](self, *args)
        return convert_call(self, name, args)

    def call_lambda(self, name: str, args: list[Value]) -> Value:
        params, body = self.lambdas[name]
        saved = (dict(self.env), self.live, self.returned)
        self.env.update(zip(params, args, strict=True))
        self.live = np.ones(self.lanes, dtype=bool)
        self.returned = None
        self.block(body, self.live)
        result = self.returned
        self.env, self.live, self.returned = saved
        if result is None:
            raise PcodeError(f"{name} returned nothing")
        return result

    def call_instruction(self, name: str, args: list[Value]) -> Value:
        """A call such as v_min_f32(a, b): the text of that instruction."""
        text = instruction_text(name)
        env: dict[str, Value] = {
            f"S{i}": Int(to_bits(a), width_of(a), False, True) for i, a in enumerate(args)
        }
        env["D0"] = make_int(0, self.lanes, 64, False, True)
        inner = Machine(self.lanes, env, ieee=self.ieee, mode=self.mode, saturate=self.saturate)
        inner.run(text)
        type_name = name.rsplit("_", 1)[1]
        result = from_bits(
            inner.env["D0"].data, type_name if TYPE_SUFFIX.match(type_name) else "u32"
        )
        return result if type_name != "u8" else from_bits(inner.env["D0"].data, "u32")


ROUND_MODES = {"ROUND_TOWARD_ZERO": "zero", "ROUND_NEAREST_EVEN": "rne"}
REGISTERS = {"D0", "D1", "D", "S0", "S1", "S2", "EXEC", "VCC", "M0", "RETURN_DATA", "VDATA"}


def width_for(type_name: str) -> int:
    return FORMATS[type_name].bits if type_name in FORMATS else int(type_name[1:])


def type_name_of(value: Value) -> str:
    if isinstance(value, Float):
        return value.fmt
    return ("b" if value.bits_only else "i" if value.signed else "u") + str(value.width)


def root_name(node: tuple) -> str:
    while node[0] != "name":
        if node[0] not in ("member", "index", "slice", "part"):
            return ""
        node = node[1]
    return node[1]


def is_memory(node: tuple) -> bool:
    return node[0] == "index" and node[1] == ("name", "MEM")


def is_lane_index(node: tuple) -> bool:
    return (
        node[0] == "index"
        and node[2] == ("name", "laneId")
        and root_name(node[1]) in ("VCC", "EXEC", "D0")
    )


def lane_bit_name(base: tuple) -> str:
    return root_name(base) + ".lane"


def saturated(data: np.ndarray, type_name: str) -> np.ndarray:
    width = int(type_name[1:])
    low, high = (
        (-(1 << (width - 1)), (1 << (width - 1)) - 1)
        if type_name[0] == "i"
        else (0, (1 << width) - 1)
    )
    limited = np.where(data < low, low, np.where(data > high, high, data))
    return limited & ((1 << width) - 1)


def as_float(value: Value) -> np.ndarray:
    return value.data if isinstance(value, Float) else value.data.astype(np.float64)


def wider_format(left: Value, right: Value) -> str:
    names = [v.fmt for v in (left, right) if isinstance(v, Float)]
    return max(names, key=lambda n: FORMATS[n].bits)


COMPARE: dict[str, Callable] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}

INT_BINARY: dict[str, Callable] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}


# --- functions of the documents' pseudo-code ---------------------------------------------------


def float_op(function: Callable) -> Callable:
    def call(machine: Machine, *args: Float) -> Float:
        fmt = args[0].fmt
        value = function(*(a.data for a in args))
        return Float(formats.round_to(value, FORMATS[fmt], machine.mode), fmt)

    return call


def predicate(function: Callable) -> Callable:
    return lambda machine, value: machine.boolean(function(as_float(value)))


def call_exponent(machine: Machine, value: Float) -> Int:
    fmt = FORMATS[value.fmt]
    return Int((to_bits(value) >> fmt.man) & ((1 << fmt.exp) - 1), 32, True)


def call_mantissa(machine: Machine, value: Float) -> Float:
    return Float(np.frexp(value.data)[0], value.fmt)


def call_sign(machine: Machine, value: Float) -> Int:
    return Int(to_bits(value) >> (FORMATS[value.fmt].bits - 1), 1)


def call_fma(machine: Machine, a: Float, b: Float, c: Float) -> Float:
    fmt = wider_format(a, c)
    return Float(formats.fma(a.data, b.data, c.data, FORMATS[fmt], machine.mode), fmt)


def call_signext(machine: Machine, value: Int) -> Int:
    return Int(wrap(value.data, value.width, True), 64, True)


def call_signext_from_bit(machine: Machine, value: Int, count: Int) -> Int:
    """Sign-extends from bit `count` - 1; a count of 0 gives 0, one past the width leaves as is."""
    width = value.width
    clipped = np.where(count.data > width, width, count.data)
    low = value.data & ((1 << clipped) - 1)
    safe = np.where(clipped > 0, clipped, 1)
    negative = (low >> (safe - 1)) & 1
    data = np.where(clipped == 0, 0, low - (negative << safe))
    return Int(wrap(data, width, True), width, True)


def call_bit_count(machine: Machine, value: Int) -> Int:
    return make_int([int(v).bit_count() for v in to_bits(value)], machine.lanes)


def call_ldexp(machine: Machine, value: Float, power: Int) -> Float:
    scaled = np.ldexp(value.data, power.data.astype(np.int64))
    return Float(formats.round_to(scaled, FORMATS[value.fmt], machine.mode), value.fmt)


def float_to_int(machine: Machine, value: Float, width: int, signed: bool) -> Int:
    """Truncates; NaN gives 0; out of range saturates."""
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    out = []
    for x in value.data.tolist():
        if x != x:
            out.append(0)
        elif x in (float("inf"), float("-inf")):
            out.append(high if x > 0 else low)
        else:
            out.append(min(max(int(x), low), high))
    return make_int(out, machine.lanes, width, signed)


def normalized(machine: Machine, value: Float, signed: bool) -> Int:
    """[-1, 1] or [0, 1] to 16 bits, nearest even."""
    scale = 32767.0 if signed else 65535.0
    x = np.where(np.isnan(value.data), 0.0, value.data)
    x = np.clip(x, -1.0 if signed else 0.0, 1.0)
    return make_int(np.rint(x * scale).astype(np.int64), machine.lanes, 16, signed)


def call_minimum(machine: Machine, *values: Float) -> Float:
    """IEEE 754-2019 minimum: NaN propagates, -0 < +0."""
    out = values[0].data
    for value in values[1:]:
        lower = np.where(
            out == value.data,
            np.where(np.signbit(out), out, value.data),
            np.minimum(out, value.data),
        )
        out = np.where(np.isnan(out) | np.isnan(value.data), np.nan, lower)
    return Float(out, values[0].fmt)


def call_maximum(machine: Machine, *values: Float) -> Float:
    flipped = [Float(-value.data, value.fmt) for value in values]
    return Float(-call_minimum(machine, *flipped).data, values[0].fmt)


CONVERSION = re.compile(r"^([a-z]+\d+)_to_([a-z]+\d+|snorm|unorm)(_sr|_SR)?(_scale)?$")


def convert_call(machine: Machine, name: str, args: list[Value]) -> Value:
    """f32_to_f16, u32_to_f32, f16_to_fp8_sr_scale, ..."""
    match = CONVERSION.match(name)
    if not match:
        raise PcodeError(f"unknown function {name}")
    _, target, stochastic, scaled = match.groups()
    value = args[0]
    if target in ("snorm", "unorm"):
        return normalized(machine, value, target == "snorm")
    if target in FORMATS:
        fmt = FORMATS[target]
        x = as_float(value)
        if not isinstance(value, Float):
            # Integers of up to 32 bits are exact in float64.
            return Float(formats.round_to(x, fmt, machine.mode), target)
        mode = machine.stochastic if stochastic else machine.mode
        narrow = fmt.bits <= 8
        if scaled:  # the last argument is the biased exponent of the scale
            power = args[-1].data.astype(np.int64) - 127
            x = np.ldexp(x, -power if narrow else power)
        if narrow:
            bits = formats.encode(x, fmt, mode, machine.saturate_fp8)
            return from_bits(object_array(bits, machine.lanes), target)
        return Float(formats.round_to(x, fmt, mode), target)
    width, signed = int(target[1:]), target[0] == "i"
    if isinstance(value, Float):
        return float_to_int(machine, value, width, signed)
    if width_of(value) > width:  # narrowing integer conversions saturate
        return make_int(saturated(value.data, target), machine.lanes, width, signed)
    return Int(value.data, width, signed)


BUILTINS: dict[str, Callable] = {
    "v_minimum_f32": call_minimum,
    "v_maximum_f32": call_maximum,
    "v_minimum3_f16": call_minimum,
    "v_maximum3_f16": call_maximum,
    "fma": call_fma,
    "floor": float_op(np.floor),
    "trunc": float_op(np.trunc),
    "fract": float_op(lambda x: x - np.floor(x)),
    "sqrt": float_op(np.sqrt),
    "log2": float_op(np.log2),
    "pow": float_op(np.power),
    "abs": lambda machine, value: Float(
        (formats.f64_bits(value.data) & np.uint64((1 << 63) - 1)).view(np.float64), value.fmt
    ),
    "isNAN": predicate(np.isnan),
    "isSignalNAN": predicate(formats.is_signaling),
    "isQuietNAN": predicate(lambda x: np.isnan(x) & ~formats.is_signaling(x)),
    "cvtToQuietNAN": lambda machine, value: Float(formats.quiet(value.data), value.fmt),
    "isEven": predicate(lambda x: np.fmod(x, 2.0) == 0),
    "exponent": call_exponent,
    "mantissa": call_mantissa,
    "sign": call_sign,
    "signext": call_signext,
    "signext_from_bit": call_signext_from_bit,
    "bitCount": call_bit_count,
    "ldexp": call_ldexp,
    # Addresses come complete with their offsets.
    "CalcDsAddr": lambda machine, *args: machine.env["ADDR"],
    "CalcGlobalAddr": lambda machine, *args: machine.env["ADDR"],
    "CalcFlatAddr": lambda machine, *args: machine.env["ADDR"],
    "CalcScratchAddr": lambda machine, *args: machine.env["ADDR"],
    "CalcBufferAddr": lambda machine, *args: machine.env["ADDR"],
}


# --- the documents' text -----------------------------------------------------------------------


@cache
def document() -> dict[str, dict[str, str]]:
    """{encoding: {NAME: text}}; names are upper case without _E32/_E64, encodings as in VOP3Op."""
    from tinygrad.runtime.autogen.amd.cdna.str_pcode import PCODE

    out: dict[str, dict[str, str]] = {}
    for key, text in PCODE.items():
        name = re.sub(r"_E(32|64)$", "", key.name)
        out.setdefault(type(key).__name__.removesuffix("Op"), {})[name] = text
    return out


VALU_ENCODINGS = ("VOP1", "VOP2", "VOPC", "VOP3", "VOP3SD", "VOP3P")


@cache
def instruction_text(mnemonic: str) -> str:
    """Text of a mnemonic such as v_min_f32; any encoding (they agree)."""
    name = mnemonic.upper()
    for texts in document().values():
        if name in texts:
            return texts[name]
    raise PcodeError(f"no pseudo-code for {mnemonic}")
