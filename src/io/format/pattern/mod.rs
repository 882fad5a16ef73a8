//! Generated test pictures: `pattern:NAME:key=value:...`.
//!
//! `NAME` is `bars`, `ramp`, `grey`, `zoneplate`, `checker` or `transparent` ([`Kind`]). Keys: `size` (1920x1080),
//! `frames` (100), `rate` (24), `format` (FFmpeg's names; yuv420p, for `transparent` gbrap), `range` (`full` or
//! `limited`; RGB and float are full, everything else limited), `level` (of `grey`, 0 to 1, 1/2), `square` (side of the
//! squares of `checker`, 16), `alpha` (`straight` or `premultiplied`, if the format has alpha; only `transparent` is
//! not opaque). Up to 576 lines the matrix is BT.601, above it BT.709.
//!
//! All except the zone plate are the same in every frame, drawn once and then copied. Seeking is free, and the number
//! of frames may be any that fits a signed 64-bit integer.

mod draw;
mod spec;

use super::{FormatDescriptor, InputDescriptor};
use crate::media::{Decode, FrameStamp, Info, Options, Pending, Slot, Source, SourceError};
use draw::Drawing;
use grainfield_filters::ratio::Ratio;
pub use spec::{Kind, MAX_FRAME_BYTES, Spec, SpecError};
use std::ffi::OsStr;
use std::sync::Arc;

/// The input format: `pattern:NAME`.
pub const FORMAT: FormatDescriptor = FormatDescriptor {
    name: "pattern",
    input: Some(InputDescriptor {
        matches: |name| name.as_encoded_bytes().starts_with(b"pattern:"),
        open,
        reads: |_| Vec::new(),
    }),
    output: None,
};

/// Makes a pattern from its description, with or without `pattern:`. `options.rate` is the default of its rate.
///
/// # Errors
/// [`SourceError::Bad`] for an invalid description.
pub fn open(input: &OsStr, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    let name = input.display().to_string();
    let bad = |problem: String| SourceError::Bad { name: name.clone(), problem };
    let text = input.to_str().ok_or_else(|| bad("is not UTF-8 text".into()))?;
    let text = text.strip_prefix("pattern:").unwrap_or(text);
    let spec = Spec::parse(text, options.rate).map_err(|e| bad(e.to_string()))?;
    let info = Info {
        name: name.clone(),
        kind: "pattern",
        format: spec.format,
        first: 0,
        last: Some(spec.frames - 1),
        seekable: true,
        variable_rate: false,
        notes: Vec::new(),
        details: Vec::new(),
        carried: None,
    };
    Ok(Box::new(Pattern { info, next: 0, drawing: Arc::new(Drawing::new(spec)) }))
}

struct Pattern {
    info: Info,
    next: i64,
    drawing: Arc<Drawing>,
}

impl Source for Pattern {
    fn info(&self) -> &Info {
        &self.info
    }

    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        self.info.check_number(number)?;
        self.next = number;
        Ok(())
    }

    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        let number = self.next;
        if self.info.last.is_none_or(|last| number > last) {
            return Ok(None);
        }
        // `frames` is at most i64::MAX, so the number after the last does not overflow
        self.next += 1;
        slot.pending = Some(Pending::Number(number));
        let duration = self.info.format.rate.recip().unwrap_or(Ratio::ONE);
        Ok(Some(FrameStamp { number, time: Ratio::whole(number) * duration, duration, carried: None }))
    }

    fn decoder(&self) -> Arc<dyn Decode> {
        Arc::clone(&self.drawing) as Arc<dyn Decode>
    }
}

impl Decode for Drawing {
    fn decode(&self, stamp: &FrameStamp, slot: &mut Slot) -> Result<(), SourceError> {
        // use the pending work, not the stamp, whose number may include an offset
        let number = match slot.pending.take() {
            Some(Pending::Number(number)) => number,
            _ => stamp.number,
        };
        self.draw(number, &mut slot.frame);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_frame_in_any_order() {
        let text = OsStr::new("pattern:zoneplate:size=33x17:frames=5000000000:format=yuv420p10");
        let mut source = open(text, &Options::default()).unwrap();
        let decoder = source.decoder();
        let mut slot = Slot::default();
        let mut get = |source: &mut dyn Source| {
            let stamp = source.next(&mut slot).unwrap()?;
            decoder.decode(&stamp, &mut slot).unwrap();
            assert!(slot.pending.is_none());
            Some((stamp.number, stamp.time, slot.frame.clone()))
        };
        let first = get(&mut *source).unwrap();
        assert_eq!((first.0, first.1), (0, Ratio::ZERO));
        assert_ne!(get(&mut *source).unwrap().2, first.2);
        source.seek(4_999_999_999).unwrap();
        let last = get(&mut *source).unwrap();
        assert_eq!(last.1, Ratio::new(4_999_999_999, 24).unwrap());
        assert!(get(&mut *source).is_none());
        source.seek(0).unwrap();
        assert_eq!(get(&mut *source).unwrap(), first);
        assert!(source.seek(5_000_000_000).is_err() && source.seek(-1).is_err());
    }

    #[test]
    fn errors_name_the_pattern() {
        let e = open(OsStr::new("pattern:bras"), &Options::default()).err().unwrap().to_string();
        assert!(e.starts_with("pattern:bras: ") && e.contains("did you mean 'bars'?"), "{e}");
    }
}
