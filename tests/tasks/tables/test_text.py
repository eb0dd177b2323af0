"""Which encoding a file has, when that is beyond doubt; its lines, and one row a line."""

import codecs
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import SourceFile
from tasks.tables.text import (
    file_encoding,
    found_in,
    is_text,
    line_rows,
    pieces,
    text_lines,
    whole_lines,
)


def found_encoding(data: bytes) -> str:
    return found_in(lambda: [data])


def decode(data: bytes, encoding: str = "") -> tuple[str, str]:
    """Return the text without its mark, and the encoding that is given or found."""
    file = SourceFile("f", "f", lambda: io.BytesIO(data))
    name = file_encoding(file, "", encoding) if encoding else found_encoding(data)
    return "".join(pieces([data], name)), name


MARKS = {"utf-8": b"", "utf-8-sig": b""}  # Python writes the mark itself
MARKS |= {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff"))
WESTERN = [
    "café manager, crêpe maker; maître d’hôtel – “naïve” painter · £20",
    "pâtissière;ingénieur réseau;chef d’équipe;œnologue;maçon;aide-soignant à domicile",
    "Bäcker;Köchin;Straßenbauer;Übersetzer;Kaufmann für Büromanagement",
    "diseñador;técnico;camión;1ª oficial;¿médico?;cigüeña",
    "cozinheiro de avião;mecânico;gestão;funções",
    "sygeplejerske;smørrebrødsjomfru;lærer;påklæder",
    "sairaanhoitaja;kääntäjä;työnjohtaja;insinööri",
    "þjónn;kokkur;ræðumaður;býflugnabóndi",
    "õpetaja;müüja;õde;jäätmekäitleja;töötaja",
]
OTHERS = [
    ("řezník;kuchař;účetní;číšník;pokojská;výzkum", "cp1250"),
    ("księgowy;spawacz łukowy;pracownik ogólny;mąż", "cp1250"),
    ("szakács;ápolónő;hegesztő;gépjárművezető", "cp1250"),
    ("čistač;šef;žena;kuhar", "cp1250"),
    ("aşçı;hemşire;öğretmen;müdür yardımcısı", "cp1254"),
    ("virėjas;šveicarė;mokytoja", "cp1257"),
    *(("повар;медсестра;инженер", code) for code in ("cp1251", "koi8-r")),
    ("μάγειρας;νοσοκόμα", "cp1253"),
    ("טבח;אחות", "cp1255"),
    ("طباخ;ممرضة", "cp1256"),
    ("料理人;看護師", "shift_jis"),
    ("厨师;护士;工程师", "gb18030"),
    *(("Bäcker;Köchin;café;Straßenbauer", code) for code in ("mac-roman", "cp850")),
]


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", MARKS)
@given(text=TEXT)
def test_unicode_gives_the_text_back(encoding: str, text: str) -> None:
    assert decode(MARKS[encoding] + text.encode(encoding))[0] == text
    assert is_text(text)


DATA = st.binary(max_size=30) | st.one_of(
    st.text("aé\r\nł👩", max_size=12).map(lambda text, to=to: text.encode(to, "ignore"))
    for to in ("utf-8", "utf-8-sig", "utf-16", "cp1252", "cp1250")
)


@pytest.mark.thorough
@given(data=DATA, size=st.integers(3, 6))
def test_blocks_of_any_size_are_the_same_text(data: bytes, size: int) -> None:
    """Wherever a character, a pair or a line end is cut in two; a mark lies in the first block."""
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    assert found_in(lambda: blocks) == found_encoding(data)
    for encoding in ("", "utf-8", "utf-16-le"):
        whole, found = decode(data, encoding)
        assert "".join(pieces(blocks, found)) == whole
        lines = [line for some in whole_lines(pieces(blocks, found)) for line in some]
        assert lines == list(io.StringIO(whole, newline=""))
    assert decode(data, "utf-16")[1] in ("utf-16-le", "utf-16-be")


@pytest.mark.parametrize("text", WESTERN)
def test_western_languages_in_latin_1(text: str) -> None:
    """Also if none but the last of a thousand lines has a letter beyond ASCII."""
    for more in ("", "cook;nurse\n" * 1000):
        assert decode((more + text).encode("cp1252")) == (more + text, "cp1252")
        assert decode((more + text).encode("utf-8")) == (more + text, "utf-8")


@pytest.mark.parametrize(("text", "encoding"), OTHERS)
def test_other_languages_are_not_taken_for_it(text: str, encoding: str) -> None:
    assert found_encoding(text.encode(encoding)) == "utf-8"
    assert not is_text(decode(text.encode(encoding))[0])
    assert decode(text.encode(encoding), encoding)[0] == text


def test_a_bad_byte_spoils_its_line_only() -> None:
    """One valid letter shows that the file is UTF-8."""
    good, bad = decode(b"caf\xc3\xa9\ncaf\xe9")[0].split("\n")
    assert (good, is_text(good), is_text(bad)) == ("café", True, False)


@pytest.mark.parametrize(("letters", "encoding"), [(49, "cp1252"), (48, "utf-8")])
def test_few_strange_bytes_leave_latin_1_what_it_is(letters: int, encoding: str) -> None:
    """One byte that Windows-1252 does not have is 2 % of 50, and more of 49."""
    data = "Köchin;".encode("latin-1") * letters + b"\x81"
    assert found_encoding(data) == encoding
    assert not is_text(decode(data)[0])


def test_utf_16_faults_are_seen() -> None:
    """Cut a pair in half (D83D), and end a file within a character."""
    for fault in (b"\x3d\xd8", b"a"):
        assert not is_text(decode(codecs.BOM_UTF16_LE + "x".encode("utf-16-le") + fault)[0])
    assert not is_text("a\x00b")
    assert is_text(decode(codecs.BOM_UTF16_LE + "👩‍🍳".encode("utf-16-le"))[0])


@pytest.mark.parametrize("name", ["utf-8", "UTF8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_a_named_encoding_drops_the_mark(name: str) -> None:
    mark = codecs.BOM_UTF8 if "8" in name else codecs.BOM_UTF16_LE
    plain = "utf-8" if "8" in name else "utf-16-le"
    assert decode(mark + "né".encode(plain), name)[0] == "né"


def test_only_the_three_line_ends_split(tmp_path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("a\r\nb\rc\nd\u2028e\x0bf".encode())
    file = SourceFile.at(path, "")
    lines = list(text_lines(file, "", RejectedRows(), file_encoding(file, "")))
    assert lines == ["a\r\n", "b\r", "c\n", "d\u2028e\x0bf"]


def test_lines_are_rows_and_blank_or_bad_ones_are_refused(tmp_path) -> None:
    path = tmp_path / "titles.txt"
    path.write_bytes(b"\xef\xbb\xbf nurse \r\n\r\nbad \xff\r\ncook")
    rejected = RejectedRows()
    rows = [(row.line, row.values["x"]) for row in line_rows(path, "x", "", rejected)]
    assert rows == [(1, " nurse "), (4, "cook")]
    assert rejected.refused == [
        ("titles.txt", 2, "empty row", ""),
        ("titles.txt", 3, "bytes that are not text", "bad \\udcff"),
    ]
    assert rejected.rows == {"titles.txt": 4}
