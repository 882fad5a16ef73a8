//! A format is one row of the table. This test defines one that the program does not have: films of consecutive PPM
//! pictures (`.film`).

use crate::support;
use grainfield::disk::PartialOutput;
use grainfield::format::{FORMATS, Files, FormatDescriptor, Formats, InputDescriptor, OutputDescriptor};
use grainfield::media::{
    Decode, Done, Encode, FrameStamp, Info, Options, Sink, SinkError, Slot, Source, SourceError,
};
use grainfield::session::job::Request;
use grainfield::session::{Clip, ErrorKind, Render};
use grainfield_filters::filter::convert::retarget;
use grainfield_filters::frame::{Format, Frame};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

const FILM: FormatDescriptor = FormatDescriptor {
    name: "PPM film",
    input: Some(InputDescriptor { matches: is_film, open, reads: |name| vec![name.into()] }),
    output: Some(OutputDescriptor {
        matches: is_film,
        accepts: |_, format, _| Ok(retarget(format, "gbrp").unwrap()),
        create: |name, plan| Ok(Box::new(Writer(plan.open(name)?))),
        files: |name| Files::Stream(name.to_owned()),
        prefix: "",
        drops_metadata: true,
        allows: |_, _| Ok(()),
    }),
};

fn is_film(name: &OsStr) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "film")
}

struct Reader {
    info: Info,
    bytes: Vec<u8>,
    next: i64,
}

/// All pictures begin with the same 15 bytes, `P6\n64 48\n255\n` and the like.
fn open(name: &OsStr, _: &Options) -> Result<Box<dyn Source>, SourceError> {
    let path = name.to_string_lossy().into_owned();
    let mut bytes = Vec::new();
    let read = std::fs::File::open(name).and_then(|mut f| f.read_to_end(&mut bytes));
    read.map_err(|cause| SourceError::Io { name: path.clone(), cause })?;
    let bad = || SourceError::Bad { name: path.clone(), problem: "is no film of PPM pictures".into() };
    let words = String::from_utf8_lossy(&bytes[..bytes.len().min(32)]).into_owned();
    let mut words = words.split_ascii_whitespace();
    let mut number = || words.next()?.parse::<u32>().ok();
    // `P6` is not a number.
    assert_eq!(number(), None);
    let (Some(width), Some(height), Some(255)) = (number(), number(), number()) else { return Err(bad()) };
    let mut format = Format::from_name("gbrp", width, height).map_err(|_| bad())?;
    format.rate = Ratio::whole(24);
    let frames = bytes.len() / (head(&format).len() + 3 * width as usize * height as usize);
    let info = Info {
        name: path,
        kind: "PPM film",
        format,
        first: 0,
        last: Some(frames as i64 - 1),
        seekable: true,
        variable_rate: false,
        notes: Vec::new(),
        details: Vec::new(),
        carried: None,
    };
    Ok(Box::new(Reader { info, bytes, next: 0 }))
}

fn head(format: &Format) -> String {
    format!("P6\n{} {}\n255\n", format.width, format.height)
}

impl Source for Reader {
    fn info(&self) -> &Info {
        &self.info
    }
    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        self.next = number;
        Ok(())
    }
    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        let (number, format) = (self.next, self.info.format);
        if Some(number) > self.info.last {
            return Ok(None);
        }
        self.next += 1;
        let (w, h, head) = (format.width as usize, format.height as usize, head(&format).len());
        let samples = &self.bytes[number as usize * (head + 3 * w * h) + head..];
        slot.frame.reset(format);
        for y in 0..h {
            for (p, part) in [(0, 1), (1, 2), (2, 0)] {
                let row = slot.frame.row_mut::<u8>(p, y);
                (0..w).for_each(|x| row[x] = samples[3 * (y * w + x) + part]);
            }
        }
        let step = Ratio::new(1, 24).unwrap();
        Ok(Some(FrameStamp { number, time: Ratio::whole(number) * step, duration: step, carried: None }))
    }
    fn decoder(&self) -> Arc<dyn Decode> {
        Arc::new(Done)
    }
}

struct Writer(grainfield::disk::OutputFile);

struct Picture;

impl Encode for Picture {
    fn encode(&self, _: &FrameStamp, frame: &Frame, out: &mut Vec<u8>) -> Result<(), SinkError> {
        let format = frame.format();
        out.extend(head(format).bytes());
        for y in 0..format.height as usize {
            let [g, b, r] = [0, 1, 2].map(|p| frame.row::<u8>(p, y));
            out.extend((0..format.width as usize).flat_map(|x| [r[x], g[x], b[x]]));
        }
        Ok(())
    }
}

impl Sink for Writer {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Picture)
    }
    fn write(&mut self, _: &FrameStamp, _: &Frame, encoded: &[u8]) -> Result<(), SinkError> {
        Ok(self.0.put(encoded)?)
    }
    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(self.0.finish()?)
    }
    fn abandon(self: Box<Self>) -> Result<PartialOutput, SinkError> {
        Ok(PartialOutput::default())
    }
}

#[test]
fn a_format_is_added_by_its_row_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.film");
    let formats = Formats(Box::leak([&[&FILM], FORMATS].concat().into_boxed_slice()));
    let look = "noise=strength=9".parse::<Recipe>().unwrap();
    let input = "pattern:bars:size=64x48:frames=4:format=gbrp";
    let request = || Request { formats, recipe: look.clone(), ..Request::new(input, &file) };
    Render::new(request()).start().unwrap().wait().unwrap();
    // Existing files are not replaced, and an input is not overwritten.
    assert_eq!(Render::new(request()).start().err().unwrap().kind(), ErrorKind::Output);
    let same = Request { formats, overwrite: true, ..Request::new(&file, &file) };
    assert_eq!(Render::new(same).start().err().unwrap().kind(), ErrorKind::Usage);

    let clip = Clip::open(Request { formats, ..Request::new(&file, "hash:") }).unwrap();
    let want = support::hashes(input, "noise=strength=9", |_| {});
    assert_eq!(want.len(), 4);
    for (number, hash) in want {
        let picture = clip.frame(number, &Recipe::default()).unwrap();
        assert_eq!(picture.digest(), hash, "frame {number}");
    }
    // Without the row the format is unknown.
    assert_eq!(Render::new(Request::new(input, &file)).start().err().unwrap().kind(), ErrorKind::Usage);
}
