"""How tables are written."""

from ne_dynamics.tables import markdown_table, name_error_unit, text_table


def test_columns_are_aligned_and_lines_end_at_their_last_character():
    table = text_table([['', 'RMS'], ['', '[mrad]']], [['PD', '12.3'], ['longer', '0.012']])
    assert table.split('\n') == [
        '           RMS',
        '        [mrad]',
        'PD        12.3',
        'longer   0.012',
    ]


def test_columns_of_words_are_all_to_the_left():
    table = text_table([['what', 'why']], [['MuJoCo', 'missing'], ['', '']], is_text=True)
    assert table.split('\n') == ['what    why', 'MuJoCo  missing', '']


def test_markdown_keeps_what_would_end_a_cell():
    table = markdown_table(['a', ''], [['x|y', '1']])
    assert table == '| a |  |\n| --- | --- |\n| x\\|y | 1 |'


def test_the_unit_of_an_error_is_that_of_the_joints():
    assert name_error_unit([False, False]) == 'mrad'
    assert name_error_unit([True]) == 'mm'
    assert name_error_unit([True, False]) == 'mrad or mm'
