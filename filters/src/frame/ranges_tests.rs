use super::*;
use crate::fixed;
use proptest::prelude::*;

fn list(text: &str) -> Vec<i64> {
    text.parse::<Ranges>().unwrap().iter().take(20).collect()
}

#[test]
fn parses_common_forms() {
    assert_eq!(list("17"), [17]);
    assert_eq!(list("1001-1003"), [1001, 1002, 1003]);
    assert_eq!(list("1-10x4"), [1, 5, 9]);
    assert_eq!(list("9-12, 5 7,,5"), [9, 10, 11, 12, 5, 7, 5]);
    assert_eq!(list("0-1+6-7"), [0, 1, 6, 7]);
    assert_eq!(list("-5--3"), [-5, -4, -3]);
    assert_eq!(list("-1-1"), [-1, 0, 1]);
    assert_eq!(list("-7 -5"), [-7, -5]);
    assert_eq!(list("100-x5")[..3], [100, 105, 110]);
    let open: Ranges = "100- 3".parse().unwrap();
    assert!(open.is_unbounded() && open.contains(i64::MAX) && open.contains(3) && !open.contains(99));
    assert_eq!((open.count(), open.min(), open.max()), (i64::MAX as u64 - 98, Some(3), Some(i64::MAX)));
    let steps: Ranges = "1-10x2".parse().unwrap();
    assert_eq!((steps.count(), steps.min(), steps.max()), (5, Some(1), Some(9)));
    assert!(steps.contains(9) && !steps.contains(10) && !steps.is_unbounded());
    assert_eq!(steps.next_from(4), Some(5));
    assert_eq!(steps.next_from(10), None);
}

#[test]
fn ends_of_the_numbers_hold() {
    let all = format!("{}-{}", i64::MIN, i64::MAX);
    let r: Ranges = all.parse().unwrap();
    assert_eq!(r.to_string(), format!("{}-", i64::MIN));
    assert_eq!(r.count(), u64::MAX);
    assert_eq!(r.max(), Some(i64::MAX));
    assert_eq!(r.next_from(i64::MAX), Some(i64::MAX));
    let top: Ranges = format!("{}-", i64::MAX).parse().unwrap();
    assert_eq!(top.iter().collect::<Vec<_>>(), [i64::MAX]);
    assert_eq!(top.ascending().count(), 1);
    let wide: Ranges = format!("{}-x{}", i64::MIN, u64::MAX).parse().unwrap();
    assert_eq!(wide.iter().collect::<Vec<_>>(), [i64::MIN, i64::MAX]);
    assert_eq!(wide.max(), Some(i64::MAX));
    assert_eq!(wide.normalized().to_string().parse(), Ok(wide.normalized()));
}

#[test]
fn errors_point_at_the_character() {
    use RangesProblem::*;
    for (text, at, problem) in [
        ("", 0, Empty),
        (" , ", 0, Empty),
        ("-", 0, LoneMinus),
        ("1 - 10", 2, LoneMinus),
        ("10-1", 0, Reversed(10, 1)),
        ("5--1", 0, Reversed(5, -1)),
        ("1-10x0", 5, ZeroStep),
        ("1-10x", 5, Number),
        ("1-10x, 7", 5, Number),
        ("1-10x-2", 5, Unexpected('-')),
        ("1-10y2", 4, Unexpected('y')),
        ("3, é", 3, Unexpected('é')),
        ("1–10", 1, Unexpected('–')),
        ("3,99999999999999999999", 2, TooLarge),
        ("1.5", 1, Unexpected('.')),
    ] {
        assert_eq!(text.parse::<Ranges>(), Err(RangesError { at, problem }), "{text}");
    }
    let many = "1,".repeat(MAX_RANGES + 1);
    assert_eq!(many.parse::<Ranges>().map_err(|e| (e.at, e.problem)), Err((2 * MAX_RANGES, TooMany)));
}

#[test]
fn normal_form_is_one() {
    let normal = |t: &str| t.parse::<Ranges>().unwrap().normalized().to_string();
    assert_eq!(normal("3,1,2"), "1-3");
    assert_eq!(normal("7-9,1-10,11"), "1-11");
    assert_eq!(normal("1-10x2"), "1-9x2");
    assert_eq!(normal("5-6x2,5"), "5");
    assert_eq!(normal("50-,100-200"), "50-");
    assert_eq!(normal("5-x2"), "5-x2");
}

fn part() -> impl Strategy<Value = Part> {
    let small = (-40i64..40, 0i64..40, 1u64..6).prop_map(|(f, n, step)| Part { first: f, last: f + n, step });
    let open = (-9i64..9, 1u64..4).prop_map(|(first, step)| Part { first, last: i64::MAX, step });
    let any = (any::<i64>(), any::<i64>(), 1u64..).prop_map(|(a, b, step)| Part {
        first: a.min(b),
        last: a.max(b),
        step,
    });
    prop_oneof![8 => small, 1 => open, 1 => any]
}

fn ranges() -> impl Strategy<Value = Ranges> {
    proptest::collection::vec(part(), 1..6).prop_map(|parts| Ranges { parts })
}

proptest! {
    #![proptest_config(fixed(1))]

    #[test]
    fn printing_parses_back(r in ranges()) {
        prop_assert_eq!(r.to_string().parse(), Ok(r));
    }

    #[test]
    fn the_normal_form_has_the_same_members(r in ranges()) {
        let n = r.normalized();
        prop_assert_eq!(n.normalized(), n.clone());
        prop_assert_eq!(n.max(), r.max());
        for i in -60..100 {
            prop_assert_eq!(n.contains(i), r.contains(i));
            prop_assert_eq!(n.next_from(i), r.next_from(i));
        }
    }

    #[test]
    fn the_ways_to_ask_agree(r in proptest::collection::vec(part(), 1..5)) {
        let parts = r.into_iter().filter(|p| p.last < 100 && p.first > -100).collect::<Vec<_>>();
        let r = Ranges { parts };
        let mut all: Vec<i64> = r.iter().collect();
        prop_assert_eq!(all.len() as u64, r.count());
        all.sort();
        all.dedup();
        prop_assert_eq!(&all, &r.ascending().collect::<Vec<_>>());
        prop_assert_eq!(&all, &(-100..200).filter(|&n| r.contains(n)).collect::<Vec<_>>());
        prop_assert_eq!((all.first().copied(), all.last().copied()), (r.min(), r.max()));
    }

    #[test]
    fn no_text_panics(t in "[-0-9x,+ é]{0,24}") {
        if let Err(e) = t.parse::<Ranges>() {
            prop_assert!(t.is_char_boundary(e.at));
        }
    }
}

#[test]
fn runs_have_nothing_missing() {
    let runs = |text: &str| text.parse::<Ranges>().unwrap().runs();
    assert_eq!(runs("5,7-9,10-12,3-"), Some(vec![(3, i64::MAX)]));
    assert_eq!(runs("20-29,-5--1,5,6,9x3"), Some(vec![(-5, -1), (5, 6), (9, 9), (20, 29)]));
    assert_eq!(runs("0-4,10-20x2"), None);
}
