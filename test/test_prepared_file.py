"""Files that are there whole or not at all."""

import stat

import pytest

from ne_dynamics.prepared_file import write_whole


def test_a_file_that_is_replaced_leaves_its_permissions_and_its_links(tmp_path):
    target, link = tmp_path / 'target.txt', tmp_path / 'link.txt'
    target.write_text('old')
    target.chmod(0o600)
    link.symlink_to(target)
    write_whole(link, 'new: ä')
    assert link.is_symlink()
    assert target.read_text(encoding='utf-8') == 'new: ä'
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ['link.txt', 'target.txt']


@pytest.mark.parametrize('fails', ['open', 'fsync'])
def test_what_cannot_be_written_leaves_nothing_and_is_named(fails, tmp_path, monkeypatch):
    """Not the passing name beside it, and not none."""
    path = tmp_path / 'file'
    path.write_text('old')

    def fail(*_, **__):
        raise OSError(28, 'No space left on device', '.passing' if fails == 'open' else None)

    name = {'open': 'ne_dynamics.prepared_file.Path.open', 'fsync': 'os.fsync'}[fails]
    with monkeypatch.context() as patch:
        patch.setattr(name, fail)
        with pytest.raises(OSError, match='No space left') as caught:
            write_whole(path, 'new')
    assert caught.value.filename == str(path)
    assert [item.name for item in tmp_path.iterdir()] == ['file']
    assert path.read_text() == 'old'
