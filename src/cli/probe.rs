//! `probe`: the properties of an input, for people and as JSON.

use grainfield_filters::frame::{Depth, Family};
use grainfield_filters::ratio::Ratio;
use grainfield_io::source::Info;
use serde_json::{Map, Value, json};
use std::fmt::Write;

fn family(f: Family) -> &'static str {
    match f {
        Family::Gray => "gray",
        Family::Yuv => "yuv",
        Family::Rgb => "rgb",
    }
}

/// A name of ISO/IEC 23091-2's tables, or the bare number.
fn code(name: Option<&'static str>, number: u8) -> String {
    name.map_or_else(|| number.to_string(), str::to_owned)
}

fn count(info: &Info) -> Option<u64> {
    let last = info.last?;
    u64::try_from(i128::from(last) - i128::from(info.first) + 1).ok()
}

fn decimal(r: Ratio) -> String {
    let text = format!("{:.3}", r.to_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `24`, `24000/1001 (23.976)`
fn rate(r: Ratio) -> String {
    if r.den() == 1 { r.to_string() } else { format!("{r} ({})", decimal(r)) }
}

/// For people: a name and a value a line.
pub(super) fn table(info: &Info) -> String {
    let f = &info.format;
    let depth = match f.depth {
        Depth::Bits(n) => format!("{n} bits"),
        Depth::Float => "32-bit float".into(),
    };
    // if frames have different durations, the source knows the duration better
    let duration = count(info).filter(|_| !info.variable_rate).and_then(|n| {
        Ratio::whole(i64::try_from(n).ok()?).checked_div(f.rate).map(|d| format!("{} s", decimal(d)))
    });
    let frames = match (count(info), info.last) {
        (Some(n), Some(last)) => format!("{n} ({} to {last})", info.first),
        _ => format!("unknown, starting at {}", info.first),
    };
    let mut lines: Vec<(&str, String)> = vec![
        ("kind", info.kind.into()),
        ("size", format!("{}x{}", f.width, f.height)),
        ("format", format!("{} ({}, {depth})", f.name(), family(f.family))),
        ("frames", frames),
        ("rate", rate(f.rate) + if info.variable_rate { ", variable" } else { "" }),
    ];
    lines.extend(duration.map(|d| ("duration", d)));
    lines.push(("range", f.range.name().into()));
    if f.has_alpha() {
        lines.push(("alpha", f.alpha.name().into()));
    }
    if f.family == Family::Yuv {
        lines.push(("matrix", code(f.matrix.name(), f.matrix.0)));
        lines.push(("siting", f.siting.name().into()));
    }
    lines.push(("primaries", code(f.primaries.name(), f.primaries.0)));
    lines.push(("transfer", code(f.transfer.name(), f.transfer.0)));
    lines.push(("fields", f.fields.name().into()));
    if f.aspect > Ratio::ZERO {
        lines.push(("aspect", format!("{}:{}", f.aspect.num(), f.aspect.den())));
    }
    lines.push(("seekable", if info.seekable { "yes" } else { "no" }.into()));
    lines.extend(info.details.iter().map(|(name, value)| (name.as_str(), value.clone())));

    let width = lines.iter().map(|l| l.0.chars().count()).max().unwrap_or(0);
    let mut text = format!("{}\n", visible(&info.name));
    for (name, value) in lines {
        let _ = writeln!(text, "  {:width$}  {}", visible(name), visible(&value));
    }
    text
}

/// Replaces control characters in the tags of a file, which a terminal would execute.
fn visible(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// For programs.
pub(super) fn json(info: &Info) -> String {
    let f = &info.format;
    let details: Map<String, Value> =
        info.details.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    let value = json!({
        "name": info.name,
        "kind": info.kind,
        "width": f.width,
        "height": f.height,
        "pix_fmt": f.name(),
        "family": family(f.family),
        "bits": f.depth.bits(),
        "alpha": f.alpha.name(),
        "frames": count(info),
        "first": info.first,
        "last": info.last,
        "rate": f.rate.to_string(),
        "variable_rate": info.variable_rate,
        "range": f.range.name(),
        "matrix": code(f.matrix.name(), f.matrix.0),
        "primaries": code(f.primaries.name(), f.primaries.0),
        "transfer": code(f.transfer.name(), f.transfer.0),
        "siting": f.siting.name(),
        "fields": f.fields.name(),
        "aspect": (f.aspect > Ratio::ZERO).then(|| f.aspect.to_string()),
        "seekable": info.seekable,
        "details": details,
        "notes": info.notes,
    });
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::frame::Format;

    fn info() -> Info {
        let mut format = Format::new(1920, 1080, Family::Yuv, Depth::Bits(10), (1, 1));
        format.rate = Ratio::new(24000, 1001).unwrap();
        Info {
            name: "clip.y4m".into(),
            kind: "y4m",
            format,
            first: 0,
            last: Some(149),
            seekable: true,
            variable_rate: false,
            notes: vec!["assumed".into()],
            details: vec![("comment".into(), "a\x1b[31mb".into())],
            carried: None,
        }
    }

    #[test]
    fn a_table() {
        let text = table(&info());
        for part in [
            "clip.y4m\n",
            "  size       1920x1080\n",
            "  format     yuv420p10 (yuv, 10 bits)\n",
            "  frames     150 (0 to 149)\n",
            "  rate       24000/1001 (23.976)\n",
            "  duration   6.256 s\n",
            "  comment    a\\u{1b}[31mb\n",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        let unknown = table(&Info { last: None, ..info() });
        assert!(unknown.contains("  frames     unknown, starting at 0\n"), "{unknown}");
        assert!(!unknown.contains("duration"), "{unknown}");
    }

    #[test]
    fn json_has_the_same_contents() {
        let o: Value = serde_json::from_str(&json(&info())).unwrap();
        assert_eq!((&o["pix_fmt"], &o["bits"], &o["frames"]), (&json!("yuv420p10"), &json!(10), &json!(150)));
        assert_eq!((&o["rate"], &o["aspect"]), (&json!("24000/1001"), &Value::Null));
        assert_eq!(o["details"]["comment"], "a\u{1b}[31mb");
    }
}
