//! The text of a frame: `{timecode} {file}`.

use crate::frame::{ClipDetails, Format, FrameTime, Timecode};
use crate::ratio::Ratio;
use core::fmt::Write;
use std::sync::Arc;

/// The largest number of characters of a template, and of the text of a frame.
pub(super) const MAX_CHARS: usize = 2000;

/// A field, and the text around fields.
#[derive(Clone, PartialEq, Debug)]
enum Part {
    Text(String),
    Frame,
    Time,
    Timecode,
    File,
    Seed,
    Rate,
    Size,
    Info(String),
}

/// Text with fields, parsed.
#[derive(Clone, Debug)]
pub(super) struct Template(Vec<Part>);

const KNOWN: &str =
    "{timecode}, {frame}, {time}, {file}, {seed}, {rate}, {size}, {info.NAME}, {newline}, and {{ for a brace";

impl Template {
    /// # Errors
    /// A field is unknown or has no end, or the text is too long.
    pub(super) fn parse(text: &str) -> Result<Template, String> {
        if text.chars().count() > MAX_CHARS {
            return Err(format!("it has more than {MAX_CHARS} characters"));
        }
        let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(c) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("{{") {
                (plain, rest) = (plain + "{", after);
                continue;
            }
            let Some(field) = rest.strip_prefix('{') else {
                let both = rest.strip_prefix("}}");
                plain.push(c);
                rest = both.unwrap_or(&rest[c.len_utf8()..]);
                continue;
            };
            let Some((name, after)) = field.split_once('}') else {
                return Err(format!("'{{{field}' has no closing brace; the fields are {KNOWN}"));
            };
            rest = after;
            let part = match name {
                "frame" => Part::Frame,
                "time" => Part::Time,
                "timecode" => Part::Timecode,
                "file" => Part::File,
                "seed" => Part::Seed,
                "rate" => Part::Rate,
                "size" => Part::Size,
                "newline" => Part::Text("\n".into()),
                _ => match name.strip_prefix("info.") {
                    Some(name) => Part::Info(name.into()),
                    None => return Err(format!("there is no field {{{name}}}; the fields are {KNOWN}")),
                },
            };
            parts.extend([Part::Text(core::mem::take(&mut plain)), part]);
        }
        parts.push(Part::Text(plain));
        Ok(Template(parts))
    }

    /// The template for a clip.
    ///
    /// # Errors
    /// The timecode is not one, or not possible at the clip's rate.
    pub(super) fn bind(
        &self,
        timecode: Option<&str>,
        details: Option<&Arc<ClipDetails>>,
        format: &Format,
    ) -> Result<Fields, String> {
        let details = details.cloned().unwrap_or_default();
        let mut start = None;
        if self.0.contains(&Part::Timecode) || timecode.is_some() {
            let text = timecode.or(details.timecode.as_deref()).unwrap_or("00:00:00:00");
            let code = text.parse::<Timecode>().map_err(|()| {
                format!("'{text}' is no timecode: write HH:MM:SS:FF, or HH:MM:SS;FF with drop frame")
            })?;
            let frames = code
                .frames(format.rate)
                .ok_or_else(|| format!("there is no timecode {text} at {} frames per second", format.rate))?;
            start = Some((frames, code.is_drop()));
        }
        Ok(Fields { template: self.clone(), details, start, format: *format })
    }
}

/// A template with everything that its fields need but the time.
pub(super) struct Fields {
    template: Template,
    details: Arc<ClipDetails>,
    /// The frames before the first one of the clip since 00:00:00:00, and whether they drop.
    start: Option<(i64, bool)>,
    format: Format,
}

impl Fields {
    /// The text of a frame, both fields of which show the same.
    pub(super) fn text(&self, at: &FrameTime) -> String {
        let (mut out, at, format) = (String::new(), at.whole_frame(), &self.format);
        for part in &self.template.0 {
            // Writing to a String cannot fail.
            let _ = match part {
                Part::Text(text) => write!(out, "{text}"),
                Part::Frame => write!(out, "{}", at.frame.floor()),
                Part::Time => write!(out, "{}", clock(at.time)),
                Part::Timecode => {
                    let (start, drop) = self.start.unwrap_or_default();
                    // By time, so that it stays right where the frame rate varies.
                    let frames = start.saturating_add((at.time * format.rate + Ratio::HALF).floor());
                    Timecode::of_frames(frames, format.rate, drop)
                        .map_or(Ok(()), |code| write!(out, "{code}"))
                }
                Part::File => write!(out, "{}", line(&self.file(at.index))),
                Part::Seed => write!(out, "{}", self.details.seed),
                Part::Rate => write!(out, "{}", decimal(format.rate)),
                Part::Size => write!(out, "{}x{}", format.width, format.height),
                Part::Info(name) => {
                    let found = self.details.properties.iter().find(|(known, _)| known == name);
                    write!(out, "{}", found.map_or(String::new(), |(_, value)| line(value)))
                }
            };
        }
        out.chars().take(MAX_CHARS).collect()
    }

    /// A text as long as that of any frame below number 1000000 and 100 hours.
    pub(super) fn longest(&self) -> String {
        self.text(&FrameTime { frame: Ratio::whole(999_999), ..FrameTime::of_frame(0, Ratio::ONE) })
    }

    /// The name of the file of a frame.
    fn file(&self, frame: i64) -> String {
        let name = &self.details.file;
        let (Some(_), Some(at)) = (self.details.numbers, name.find('#')) else { return name.clone() };
        let digits = name[at..].find(|c| c != '#').unwrap_or(name.len() - at);
        let number = frame.saturating_sub(self.details.offset);
        format!("{}{number:0digits$}{}", &name[..at], &name[at + digits..])
    }
}

/// The text without control characters.
fn line(text: &str) -> String {
    text.chars().take(MAX_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// `01:02:03.456`.
fn clock(time: Ratio) -> String {
    let ms = (time * Ratio::whole(1000) + Ratio::HALF).floor();
    let (sign, ms) = (if ms < 0 { "-" } else { "" }, ms.unsigned_abs());
    let [h, m, s] = [ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60];
    format!("{sign}{h:02}:{m:02}:{s:02}.{:03}", ms % 1000)
}

/// At most three decimals.
fn decimal(v: Ratio) -> String {
    let text = clock(v).split_off(6);
    let whole = v.floor();
    let part = text.split_once('.').map_or("", |(_, part)| part).trim_end_matches('0');
    if part.is_empty() { whole.to_string() } else { format!("{whole}.{part}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Depth, Family};

    fn text(template: &str, timecode: Option<&str>, rate: (i64, i64), frame: i64) -> Result<String, String> {
        let rate = Ratio::new(rate.0, rate.1).unwrap();
        let format = Format { rate, ..Format::new(64, 48, Family::Gray, Depth::Bits(8), (0, 0)) };
        let details = ClipDetails {
            file: "a b.mov".into(),
            timecode: Some("10:00:00:00".into()),
            properties: vec![("tag title".into(), "The\nTalk".into())],
            seed: u64::MAX,
            ..ClipDetails::default()
        };
        let fields = Template::parse(template)?.bind(timecode, Some(&Arc::new(details)), &format)?;
        Ok(fields.text(&FrameTime::of_frame(frame, rate)))
    }

    #[test]
    fn fields_are_filled_in() {
        let film = (24000, 1001);
        for (template, want) in [
            ("{timecode}", "10:00:04:04"),
            ("#{frame}, {file}: {size} {rate}", "#100, a b.mov: 64x48 23.976"),
            ("{time}", "00:00:04.171"),
            ("{seed}{newline}{info.tag title}{info.nothing}", "18446744073709551615\nThe Talk"),
            ("{{frame}} {{{frame}}}", "{frame} {100}"),
            ("é }", "é }"),
        ] {
            assert_eq!(text(template, None, film, 100).as_deref(), Ok(want));
        }
        let ntsc = (30000, 1001);
        for (start, frame, want) in [
            (None, 1, "10:00:00:01"),
            (Some("00:00:59;28"), 1, "00:00:59;29"),
            (Some("00:00:59;28"), 2, "00:01:00;02"),
            (Some("00:09:59;29"), 1, "00:10:00;00"),
            (Some("23:59:59:29"), 1, "00:00:00:00"),
            (Some("00:00:00:00"), -1, "23:59:59:29"),
        ] {
            assert_eq!(text("{timecode}", start, ntsc, frame).as_deref(), Ok(want));
        }
    }

    #[test]
    fn numbered_files_have_their_own_names() {
        let format = Format::new(64, 48, Family::Gray, Depth::Bits(8), (0, 0));
        for (file, offset, frame, want) in [
            ("p.####.exr", 0, 1013, "p.1013.exr"),
            ("p.####.exr", -1000, 13, "p.1013.exr"),
            ("#.png", 0, 7, "7.png"),
            ("a ##.####", 0, 3, "a 03.####"),
            ("plain.mov", 0, 3, "plain.mov"),
        ] {
            let details =
                ClipDetails { file: file.into(), numbers: Some((0, 9)), offset, ..ClipDetails::default() };
            let fields =
                Template::parse("{file}").unwrap().bind(None, Some(&Arc::new(details)), &format).unwrap();
            assert_eq!(fields.text(&FrameTime::of_frame(frame, Ratio::whole(24))), want);
        }
    }

    #[test]
    fn errors_name_the_fields() {
        let of = |template: &str, start| text(template, start, (25, 1), 0).unwrap_err();
        assert!(
            of("{tiemcode}", None).starts_with("there is no field {tiemcode}; the fields are {timecode},")
        );
        assert!(of("a {frame", None).starts_with("'{frame' has no closing brace"));
        assert!(of("x", Some("1:2")).starts_with("'1:2' is no timecode"));
        assert!(of("x", Some("00:00:00;00")).starts_with("there is no timecode 00:00:00;00 at 25"));
        assert!(of(&"x".repeat(2001), None).contains("2000"));
    }
}
