"""Every such instruction that the simulator executes, in every form, against the documents."""

import pytest

from tests.isa import support

pytestmark = support.needs_simulator


@pytest.mark.parametrize("mnemonic", support.mnemonics("salu"))
def test_salu(mnemonic: str) -> None:
    support.check("salu", mnemonic)
