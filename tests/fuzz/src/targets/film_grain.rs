//! Film grain tables, and for some of them the result of the filter.

use super::super::Target;
use super::hash;
use grainfield_filters::catalog;
use grainfield_filters::film_grain::Table;
use grainfield_filters::filter::Band;
use grainfield_filters::frame::{Format, Frame, FrameTime, Scratch};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::settings::{FileAsset, Value, Values};
use grainfield_filters::simd::Level;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A table as text.
pub const TARGET: Target = Target {
    name: "film_grain",
    run,
    words: &[
        "filmgrn1\n",
        "E 0 9223372036854775807 1 7391 1\n",
        "E 0 417083 0 1 0\n",
        "\tp 3 7 0 11 0 1 128 192 256 128 192 256\n",
        "\tp 0 6 3 8 1 0 0 0 0 255 255 511\n",
        "\tsY 2  0 20 255 40\n",
        "\tsCb 0\n",
        "\tsCr 1 0 9\n",
        "\tcY",
        "\tcCb 0\n",
        "\tcCr -128\n",
        "\r\n",
        " ",
        "-",
        "14",
        "65535",
    ],
    seeds: &[
        "filmgrn1\nE 0 417083 1 7391 1\n\tp 0 6 0 10 0 1 128 192 256 128 192 256\n\tsY 2  0 20 255 40\n\tsCb 1 0 9\n\
         \tsCr 1 128 30\n\tcY\n\tcCb 3\n\tcCr -9\nE 417083 900000 0 0 0\nE 900000 9223372036854775807 1 1 0\n",
        "filmgrn1\r\n\r\nE 0 9 1 0 1\r\n p 1 9 3 8 1 0 0 0 0 255 255 511\r\n sY 1 4 5\r\n sCb 0\r\n sCr 0\r\n\
         cY 1 -2 3 -4\r\n cCb 1 2 3 4 5\r\n cCr 1 2 3 4 -128",
    ],
};

fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let table = match text.parse::<Table>() {
        Ok(table) => table,
        Err(e) => {
            assert!(e.line <= text.lines().count() + 1, "{e:?}");
            let _ = e.to_string();
            return false;
        }
    };
    let printed = table.to_string();
    let again = printed.parse::<Table>();
    assert_eq!(again.as_ref(), Ok(&table), "{printed} reads back");
    assert_eq!(again.map(|t| t.to_string()), Ok(printed));
    if hash(data).is_multiple_of(8) {
        render(table);
    }
    true
}

/// Renders a few frames of a small picture.
fn render(table: Table) {
    let format = Format::from_name("yuv420p10", 35, 37).expect("a known format");
    let filter = catalog::find("av1grain").expect("a filter of the catalog");
    let mut values = Values::new(filter.settings);
    let file = FileAsset::named("t").read(Arc::new(table), 0);
    values.set("table", Value::File(file)).expect("a table");
    let filter = filter.bind(&values, &format, 1, Level::best()).expect("any table can be rendered");
    let (stop, mut scratch) = (AtomicBool::new(false), Scratch::default());
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
    for number in [0, 1, 9, i64::MAX / 1001] {
        let at = FrameTime::of_frame(number, Ratio::whole(24));
        let Some(now) = filter.at(&at) else { continue };
        let state = filter.prepare(&now, None, &host).expect("nobody stops it");
        let mut frame = Frame::new(format);
        let writes = now.plan.writes;
        let mut band = Band { rows: 0..37, input: None, output: frame.as_mut(), writes };
        filter.render(&now, Some(&state), &mut band, &mut scratch);
    }
}
