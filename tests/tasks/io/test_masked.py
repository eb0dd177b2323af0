"""Secrets of addresses in texts."""

from __future__ import annotations

import pytest

from tasks.io.masked import concealed, masked, revealed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql+psycopg2://me:s3cret@db:5432/x", "postgresql+psycopg2://***@db:5432/x"),
        ("at http://me:a@b:c@host, and s3://k:s@b/y", "at http://***@host, and s3://***@b/y"),
        ("no 'https://token@host/x.csv?sig=1&b=2' there", "no 'https://***@host/x.csv?***' there"),
        ("zip://a.csv::https://u:p@h/x.zip?t=1", "zip://a.csv::https://***@h/x.zip?***"),
        ("sftp://:p@h", "sftp://***@h"),
        ("abfss://container@account/x", "abfss://container@account/x"),
        ("models:/rolecall@champion", "models:/rolecall@champion"),
        ("sqlite:////home/me/a b/mlflow.db", "sqlite:////home/me/a b/mlflow.db"),
        ("which? me@example.org: http://host:80/x", "which? me@example.org: http://host:80/x"),
    ],
)
def test_only_secrets_are_masked(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert masked(shown) == shown


def test_a_concealed_address_comes_back_whole() -> None:
    address = "https://me:secret@host/x.csv?sig=1"
    assert concealed(address) == "https://***@host/x.csv?***"
    assert revealed(concealed(address)) == address
    assert revealed("titles.csv") == "titles.csv"
