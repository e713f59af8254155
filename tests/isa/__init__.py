"""Every instruction that the simulator executes, against AMD's pseudo-code.

pcode.py reads the documents' pseudo-code and runs it over numpy arrays; handwritten.py has the
instructions whose text is prose or imprecise, and the table of tolerances with their reasons;
formats.py rounds and encodes number formats. cases.py (vector), scalar_cases.py, matrix_cases.py
and memory_cases.py list the operand forms and compute what each must yield; kernels.py wraps each
form into a small assembly kernel; runner.py runs them and describes disagreements.

    python -m tests.isa.check v_add_f32 'v_cvt_*' s_bfe_u32     only these opcodes
    python -m tests.isa.check --list v_add_f32                  what would run
"""
