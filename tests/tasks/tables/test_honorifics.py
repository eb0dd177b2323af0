"""Forms of address are told from job titles."""

from tasks.tables.honorifics import are_honorifics


def test_forms_of_address_are_no_job_titles() -> None:
    assert are_honorifics(["Mr", "Mrs.", "Prof. Dr.", "Herr", "", "Frau/Herr"])
    assert not are_honorifics(["Dr", "nurse", "Herrenschneider", "professor of law"])
    assert not are_honorifics([])
