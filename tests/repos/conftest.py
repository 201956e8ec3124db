import pytest


@pytest.fixture(autouse=True)
def own_data_root(tmp_path, settings):
    """Every test has its own mirrors, so that nothing of one is found by another."""
    settings.DATA_ROOT = tmp_path / "data"
    settings.DATA_ROOT.mkdir()
    return settings.DATA_ROOT
