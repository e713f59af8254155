"""Every such instruction that the simulator executes, in every form, against the documents."""

import pytest

from tests.isa import support

pytestmark = support.needs_simulator


@pytest.mark.parametrize("mnemonic", support.mnemonics("matrix"))
def test_matrix(mnemonic: str) -> None:
    support.check("matrix", mnemonic)
