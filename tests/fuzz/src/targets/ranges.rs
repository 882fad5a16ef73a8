//! Frame ranges, as `--frames` and `enable` take them.

use super::super::Target;
use grainfield_filters::frame::{ClipFrames, Ranges, Spans, SpansError};
use grainfield_filters::ratio::Ratio;

/// Text of ranges.
pub const TARGET: Target = Target {
    name: "ranges",
    run,
    words: &[
        "-",
        "--",
        "x",
        ",",
        "+",
        " ",
        "x0",
        "x-1",
        "9223372036854775807",
        "-9223372036854775808",
        "0-",
        "s",
        "ms",
        "%",
        ":",
        ".",
        "tc:",
        ";",
    ],
    seeds: &[
        "1001-1100",
        "1-10x2,12-",
        "-5--1",
        "0,0,0",
        "7+9-11 20-30x3",
        "12.5s-00:01:00",
        "25%-50%x2",
        "tc:01:00:10;00-",
    ],
};

fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    if let Ok(spans) = text.parse::<Spans>() {
        assert_eq!(spans.to_string().parse::<Spans>().as_ref(), Ok(&spans), "it reads itself");
        let _ = spans.bind(i64::MIN, Some(i64::MAX)).map(|bound| bound.contains(7, Ratio::ONE));
        let clip = ClipFrames { first: -5, last: Some(1001), rate: Ratio::whole(25), timecode: None };
        let _ = spans.resolve::<SpansError>(&clip, &mut |time, _| Ok(time.floor()));
    }
    let ranges: Ranges = match text.parse() {
        Ok(ranges) => ranges,
        Err(e) => {
            let _ = format!("{e} {e:?}");
            return false;
        }
    };
    assert_eq!(ranges.to_string().parse::<Ranges>().as_ref(), Ok(&ranges), "it reads itself");
    let normal = ranges.normalized();
    assert_eq!(normal.normalized(), normal, "normal is normal");
    assert_eq!(normal.to_string().parse::<Ranges>().as_ref(), Ok(&normal));
    let first: Vec<i64> = ranges.iter().take(50).collect();
    let up: Vec<i64> = ranges.ascending().take(50).collect();
    assert!(up.windows(2).all(|two| two[0] < two[1]));
    assert_eq!(normal.ascending().take(50).collect::<Vec<_>>(), up, "the same numbers");
    assert_eq!(up.first().copied(), ranges.min());
    for n in first.iter().chain(&up) {
        assert!(ranges.contains(*n) && normal.contains(*n), "{n}");
        assert_eq!(ranges.next_from(*n), Some(*n));
    }
    for n in [i64::MIN, -1, 0, 1001, i64::MAX] {
        assert_eq!(ranges.contains(n), normal.contains(n), "{n}");
        if let Some(next) = ranges.next_from(n) {
            assert!(next >= n && ranges.contains(next));
        }
        let ended = ranges.bounded(n);
        assert!(ranges.is_empty() || !ended.is_unbounded() || n == i64::MAX, "{n}");
    }
    assert_eq!(ranges.is_empty(), ranges.count() == 0);
    let _ = (ranges.max(), ranges.is_unbounded());
    true
}
