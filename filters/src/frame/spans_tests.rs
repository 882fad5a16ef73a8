use super::*;
use crate::fixed;
use crate::frame::{RangesError, RangesProblem};
use proptest::prelude::*;

fn ratio(num: i64, den: i64) -> Ratio {
    Ratio::new(num, den).unwrap()
}

/// Frames 1001 to 1006 at these times, and the end of the last.
const TIMES: [(i64, i64); 7] = [(0, 1), (1, 10), (1, 5), (1, 1), (3, 2), (8, 5), (2, 1)];

fn from(time: Ratio, after: bool) -> Result<i64, SpansError> {
    let later = |at: &(i64, i64)| ratio(at.0, at.1) > time || !after && ratio(at.0, at.1) == time;
    Ok(1001 + TIMES.iter().position(later).unwrap_or(TIMES.len()) as i64)
}

fn clip() -> ClipFrames {
    ClipFrames { first: 1001, last: Some(1006), rate: Ratio::whole(25), timecode: Some("01:00:00:00".into()) }
}

fn resolved(text: &str) -> Result<String, SpansError> {
    text.parse::<Spans>().unwrap().resolve(&clip(), &mut from).map(|(ranges, _)| ranges.to_string())
}

#[test]
fn times_are_starts_included_and_ends_excluded() {
    for (text, numbers) in [
        ("1002-1004", "1002-1004"),
        ("0s-1s", "1001-1003"),
        ("1s-2s", "1004-1006"),
        ("0.05s-1.001s", "1002-1004"),
        ("00:01-", "1004-"),
        ("100ms-200ms", "1002"),
        ("0s-99:00x2", "1001-1006x2"),
        ("1002-1.5s", "1002-1004"),
        ("1s-1005, 1001", "1004-1005,1001"),
        // the frame that is shown
        ("0s", "1001"),
        ("0.9s", "1003"),
        ("1s", "1004"),
        ("1.99s", "1006"),
        // of six frames
        ("0%-50%", "1001-1003"),
        ("50%-100%", "1004-1006"),
        ("0%-100%", "1001-1006"),
        ("40%-", "1004-"),
        ("50%", "1004"),
        ("49%", "1003"),
        ("100%", "1006"),
        ("tc:01:00:00:01-tc:01:00:00:03", "1002-1003"),
        ("tc:01:00:00:02", "1003"),
    ] {
        assert_eq!(resolved(text).as_deref(), Ok(numbers), "{text}");
    }
}

#[test]
fn spans_without_frames_are_errors() {
    use SpansError::*;
    let rate = Ratio::whole(25);
    for (text, error) in [
        ("2s-", Beyond("2s".into(), 1006)),
        ("2s", Beyond("2s".into(), 1006)),
        ("0.3s-0.9s", Empty("0.3s-0.9s".into())),
        ("1006-0.2s", Empty("1006-0.2s".into())),
        ("tc:00:59:59:24-", Timecode("tc:00:59:59:24".into(), "01:00:00:00".into(), rate)),
        ("tc:01:00:00;02", Timecode("tc:01:00:00;02".into(), "01:00:00:00".into(), rate)),
        ("tc:01:00:00:25", Timecode("tc:01:00:00:25".into(), "01:00:00:00".into(), rate)),
        ("tc:01:00:01:00", Beyond("tc:01:00:01:00".into(), 1006)),
    ] {
        assert_eq!(resolved(text), Err(error), "{text}");
    }
    let pipe = ClipFrames { last: None, timecode: None, ..clip() };
    let of = |text: &str| text.parse::<Spans>().unwrap().resolve(&pipe, &mut from);
    assert_eq!(of("50%-"), Err(NoLength("50%".into())));
    assert_eq!(of("tc:01:00:00:00"), Err(NoTimecode("tc:01:00:00:00".into())));
    // the end may come before a time, but not before a number
    assert_eq!(of("0s-1s").map(|r| r.1), Ok(true));
    assert_eq!(of("0s-1003").map(|r| r.1), Ok(false));
}

#[test]
fn bound_spans_are_decided_by_number_and_time() {
    let bound = |text: &str| text.parse::<Spans>().unwrap().bind(1001, Some(1006));
    let members = |text: &str| -> Vec<i64> {
        let bound = bound(text).unwrap();
        let times = (1001..).zip(TIMES).take(6);
        times.filter(|(n, t)| bound.contains(*n, ratio(t.0, t.1))).map(|(n, _)| n).collect()
    };
    for text in
        ["1002-1004", "0s-1s", "1002-1.5s", "1s-1005,1001", "0%-50%", "50%-", "100%", "17%-84%x2", "1s-"]
    {
        let numbers: Ranges = resolved(text).unwrap().parse().unwrap();
        assert_eq!(
            members(text),
            numbers.ascending().take_while(|n| *n < 1007).collect::<Vec<_>>(),
            "{text}"
        );
    }
    assert_eq!(bound("1s"), Err(SpansError::Lone("1s".into())));
    assert_eq!(bound("1s-2sx2"), Err(SpansError::Step("1s-2sx2".into())));
    assert_eq!(bound("tc:01:00:00:00-"), Err(SpansError::TimecodeHere("tc:01:00:00:00".into())));
    assert!("5-0%".parse::<Spans>().unwrap().bind(i64::MIN, Some(i64::MAX)).is_ok());
    assert_eq!("50%-".parse::<Spans>().unwrap().bind(0, None), Err(SpansError::NoLength("50%".into())));
}

#[test]
fn errors_point_at_the_time() {
    use RangesProblem::*;
    for (text, at, problem) in [
        ("1-5, 12.5sec", 5, Time),
        ("0s-1:2:3:4", 3, Timecode),
        ("tc:1:2:3", 0, Timecode),
        ("00:61:00-", 0, TimeRange),
        ("0%-120%", 3, Percent),
        ("5s-5s", 0, NoTime),
        ("50%-20%", 0, NoTime),
        ("-5s", 2, Unexpected('s')),
        ("1.5", 1, Unexpected('.')),
        ("5s-10sx0", 7, ZeroStep),
        ("5s x2", 3, Unexpected('x')),
    ] {
        assert_eq!(text.parse::<Spans>(), Err(RangesError { at, problem }), "{text}");
    }
    assert!("5s-6s".parse::<Ranges>().is_err());
}

#[test]
fn the_canonical_form_normalizes_numbers_only() {
    let normal = |text: &str| text.parse::<Spans>().unwrap().normalized().to_string();
    assert_eq!(normal("3,1,2"), "1-3");
    assert_eq!(normal("00:01:00-90.50s, 5,4"), "60s-90.5s,5,4");
}

/// Any text, or what is nearly always a span: numbers to the limits, times, percentages, timecodes.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-0-9x,+ .:;%smutcé]{0,24}",
        "((-?[0-9]{1,19}|[0-9]{1,3}(s|ms|%)|tc:0[0-9]:00:0[0-9][:;]0[0-9])-?){1,2}(x[1-9])?"
    ]
}

proptest! {
    #![proptest_config(fixed(5))]

    #[test]
    fn no_text_panics_and_printing_reads_back(t in text()) {
        match t.parse::<Spans>() {
            Err(e) => prop_assert!(t.is_char_boundary(e.at)),
            Ok(spans) => {
                prop_assert_eq!(spans.to_string().parse(), Ok(spans.clone()));
                let _ = spans.resolve(&clip(), &mut from);
                if let Ok(bound) = spans.bind(i64::MIN, Some(i64::MAX)) {
                    bound.contains(7, Ratio::ONE);
                }
            }
        }
    }
}
