"""Every such instruction that the simulator executes, in every form, against the documents."""

import pytest

from tests.isa import support

pytestmark = support.needs_simulator


@pytest.mark.parametrize("mnemonic", support.mnemonics("valu"))
def test_valu(mnemonic: str) -> None:
    support.check("valu", mnemonic)
