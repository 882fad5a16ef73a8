use super::*;
use proptest::prelude::*;

/// Any parameters that a bit stream can contain.
pub(crate) fn any_params() -> impl Strategy<Value = Params> {
    let curve = |most| {
        prop::collection::btree_map(any::<u8>(), any::<u8>(), 0..=most)
            .prop_map(|m| m.into_iter().map(|(x, y)| [x, y]).collect::<Vec<_>>())
    };
    let index = || {
        (any::<u8>(), any::<u8>(), 0u16..512).prop_map(|(own, luma, offset)| ChromaIndex {
            own,
            luma,
            offset,
        })
    };
    let all = || prop::collection::vec(any::<i8>(), 25);
    let coefficients = (all(), all(), all(), 0u32..4);
    let points = (curve(14), curve(10), curve(10));
    (0u8..=3, coefficients, points, index(), index(), (6u8..=9, 0u8..=3, 8u8..=11), any::<[bool; 3]>())
        .prop_map(|(lag, (y, cb, cr, weaker), points, i, j, shifts, [cfl, overlap, clip])| {
            let cut = |c: Vec<i8>, p| {
                c[..Params::coefficient_count(lag, p)].iter().map(|v| v >> (2 * weaker)).collect()
            };
            Params {
                points: [points.0, points.1, points.2],
                lag,
                coefficients: [cut(y, 0), cut(cb, 1), cut(cr, 2)],
                coefficient_shift: shifts.0,
                grain_shift: shifts.1,
                scaling_shift: shifts.2,
                chroma_from_luma: cfl,
                overlap,
                index: [i, j],
                clip,
            }
        })
}

fn any_table() -> impl Strategy<Value = Table> {
    // Tables do not store the clip flag.
    let written = any_params().prop_map(|p| Params { clip: false, ..p });
    let segment = (0..i64::MAX, 0..i64::MAX, any::<bool>(), any::<u16>(), prop::option::of(written));
    prop::collection::vec(segment, 0..6).prop_map(|all| {
        let mut known = false;
        let segments = all.into_iter().map(|(a, b, apply, seed, params)| {
            known |= params.is_some();
            Segment { start: a.min(b), end: a.max(b), apply: apply && known, seed, params }
        });
        Table { segments: segments.collect() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(table in any_table()) {
        let text = table.to_string();
        prop_assert_eq!(text.parse::<Table>(), Ok(table.clone()));
        // Line ends, blank lines, white space and a missing line end make no difference.
        let loose = text.replace('\n', " \r\n\r\n\t\n").replace("\t", "   ");
        prop_assert_eq!(loose.trim_end().parse::<Table>(), Ok(table));
    }
}

/// The output of `aomenc`, byte for byte, with a gap, `apply 0` and `update 0`.
const TEXT: &str = "filmgrn1
E 0 417083 1 7391 1
\tp 3 7 0 11 0 1 128 192 256 128 192 256
\tsY 2  0 20 255 40
\tsCb 0
\tsCr 1 0 9
\tcY 4 1 3 0 1 -3 8 -3 7 -23 1 -25 0 -10 6 -17 -4 53 36 5 -5 -17 8 66
\tcCb 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 127
\tcCr 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -128
E 417083 834166 0 0 0
E 1000000 9223372036854775807 1 10773 0
E 9223372036854775807 9223372036854775807 0 1 1
\tp 0 6 3 8 1 0 0 0 0 255 255 511
\tsY 0 
\tsCb 0
\tsCr 0
\tcY
\tcCb 0
\tcCr -1
";

#[test]
fn tables_are_rewritten_byte_for_byte() {
    let table: Table = TEXT.parse().unwrap();
    assert_eq!(table.to_string(), TEXT);
    assert_eq!(table.segments.len(), 4);
    assert_eq!((table.at(417_082), table.at(417_083)), (Some(0), Some(1)));
    assert_eq!((table.at(900_000), table.at(1_000_000), table.at(-1)), (None, Some(2), None));
    assert_eq!(table.params(2), table.segments[0].params.as_ref());
    assert_eq!("filmgrn1".parse::<Table>(), Ok(Table::default()));
}

#[test]
fn errors_say_the_line_and_what_would_be_right() {
    let said = |text: &str| {
        let e = text.parse::<Table>().unwrap_err();
        assert!(e.to_string().starts_with(&format!("line {}: ", e.line)), "{e}");
        (e.line, e.problem)
    };
    let with = |from: &str, to: &str| said(&TEXT.replacen(from, to, 1));
    let line = |expected, found: &str| Problem::Line { expected, found: found.into() };
    assert_eq!(said(""), (1, Problem::NoTable));
    assert_eq!(said("\n\nfilmgrn2\n"), (3, Problem::NoTable));
    assert_eq!(said("filmgrn1\nE 0 1 1 7 0\n"), (2, Problem::NothingBefore));
    assert_eq!(said("filmgrn1\nE 0 1 1 7 1\n"), (3, line("p", "")));
    assert_eq!(said("filmgrn1\nF\n"), (2, line("E", "F")));
    assert_eq!(with("\tsCb 0\n", ""), (5, line("sCb", "sCr")));
    assert_eq!(with("E 0 417083", "E 9 8"), (2, Problem::Ends));
    assert_eq!(with("0 20 255 40", "20 20 20 40"), (4, Problem::Falls));
    assert_eq!(with(" 127\n", "\n"), (8, Problem::Missing { what: "a coefficient" }));
    assert_eq!(with(" 127\n", " 127 5\n"), (8, Problem::More { line: "cCb", found: "5".into() }));
    for (from, to, at, range) in [
        ("p 3", "p 4", 3, (0, 3)),
        ("-128\n", "-129\n", 9, (-128, 127)),
        ("sY 2", "sY 15", 4, (0, 14)),
        ("sCr 1", "sCr 11", 6, (0, 10)),
        ("7391", "65536", 2, (0, 65535)),
        ("417083 1", "9223372036854775808 1", 2, (0, i64::MAX)),
        ("511", "512", 13, (0, 511)),
        ("sCb 0", "sCb x", 5, (0, 10)),
    ] {
        let (line, problem) = with(from, to);
        assert!(matches!(&problem, Problem::Number { range: r, .. } if *r == range), "{problem:?}");
        assert_eq!(line, at, "{to}");
    }
    // A message does not repeat a long word in full.
    let (_, Problem::NoTable | Problem::Line { .. }) = said(&"x".repeat(100_000)) else { panic!() };
    let Problem::Number { found, .. } = with("7391", &"9".repeat(10_000)).1 else { panic!() };
    assert_eq!(found.len(), 40);
}

#[test]
fn a_table_has_its_bounds() {
    let many = format!("filmgrn1\n{}", "E 0 1 0 0 0\n".repeat(MAX_SEGMENTS));
    assert_eq!(many.parse::<Table>().unwrap().segments.len(), MAX_SEGMENTS);
    let more = many + "E 0 1 0 0 0\n";
    assert_eq!(more.parse::<Table>().unwrap_err().problem, Problem::TooLong);
    let long = "filmgrn1".to_owned() + &" ".repeat(MAX_TEXT);
    assert_eq!(long.parse::<Table>().unwrap_err().problem, Problem::TooLong);
}

/// The closed form equals the loop in libaom's encoder.
#[test]
fn seeds_follow_as_the_encoder_counts() {
    for first in [0, 1, 7391, 3381, 65535, 62155, 45231] {
        let mut seed: u16 = first;
        for n in 0..200_000 {
            assert_eq!(seed_of_frame(first, n), seed, "{first} {n}");
            seed = seed.wrapping_add(3381);
            if seed == 0 {
                seed = 7391;
            }
        }
        // The sequence is periodic, and the number may be as large as possible.
        assert_eq!(seed_of_frame(first, u64::MAX), seed_of_frame(first, u64::MAX - 63_421));
    }
}

#[test]
fn there_are_sixteen_vectors() {
    assert!(vector(0).is_none() && vector(VECTORS + 1).is_none());
    for number in 1..=VECTORS {
        let (params, seed) = vector(number).unwrap();
        assert!(seed > 0 && params.points[0].windows(2).all(|p| p[0][0] < p[1][0]), "{number}");
        for (plane, most) in MAX_POINTS.into_iter().enumerate() {
            let count = Params::coefficient_count(params.lag, plane);
            assert_eq!(params.coefficients[plane].len(), count, "{number} {plane}");
            assert!(params.points[plane].len() <= most);
        }
        let table = Table::constant(Params { clip: false, ..params }, seed);
        assert_eq!(table.to_string().parse(), Ok(table));
    }
}
