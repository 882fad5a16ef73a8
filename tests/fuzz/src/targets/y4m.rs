//! Streams of y4m: header and frames, from a pipe, and some of them from a file with seeking.

use super::super::Target;
use super::{FRAME, hash};
use grainfield::source::y4m::{from_reader, open};
use grainfield::source::{Options, Slot, Source, SourceError};
use std::cell::OnceCell;
use std::io::Cursor;
use std::path::PathBuf;

/// A stream.
pub const TARGET: Target = Target {
    name: "y4m",
    run,
    words: &[
        "YUV4MPEG2",
        " W4",
        " H2",
        " W65536",
        " H65536",
        " F25:1",
        " F30000:1001",
        " F0:0",
        " Ip",
        " It",
        " Ib",
        " Im",
        " I?",
        " A1:1",
        " A0:0",
        " C420",
        " C420jpeg",
        " C420p10",
        " C444alpha",
        " Cmono",
        " Cmono16",
        " C411",
        " C422p16",
        " XCOLORRANGE=FULL",
        " XYSCSS=420P10",
        " Xabc",
        "\n",
        "FRAME",
        "FRAME\n",
        "FRAME Ixyz XFOO=1\n",
        " C",
        " ",
    ],
    seeds: &[
        "YUV4MPEG2 W4 H2 F25:1 Ip A1:1 Cmono\nFRAME\n01234567FRAME Ix\n01234567",
        "YUV4MPEG2 W2 H2 F30000:1001 It A0:0 C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL\nFRAME\nabcdefFRAME\nabcdef",
        "YUV4MPEG2 W1 H1 C444alpha\nFRAME\nyuvaFRAME\nyuva",
        "YUV4MPEG2 W3 H3 C420p10\nFRAME\n0123456789012345670123456701234567",
        "YUV4MPEG2 W4 H1 Cmono16\nFRAME\n01234567FRAME Xparameter\n01234567",
    ],
};

fn run(data: &[u8]) -> bool {
    let options = Options::default();
    let mut understood =
        read(from_reader("pipe".into(), Box::new(Cursor::new(data.to_vec())), &options), &[3]);
    if hash(data).is_multiple_of(16) {
        let file = file();
        std::fs::write(&file, data).expect("the temporary folder takes a file");
        understood |= read(open(file.as_os_str(), &options), &[2, 0, 1, 5, i64::MAX, -1, i64::MIN]);
    }
    understood
}

thread_local! {
    static FILE: OnceCell<Temporary> = const { OnceCell::new() };
}

/// A file that is removed with its owner.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn file() -> PathBuf {
    let make = || {
        let name = format!("grainfield-fuzz-{}-{:?}.y4m", std::process::id(), std::thread::current().id());
        Temporary(std::env::temp_dir().join(name))
    };
    FILE.with(|f| f.get_or_init(make).0.clone())
}

fn read(source: Result<Box<dyn Source>, SourceError>, places: &[i64]) -> bool {
    let mut source = match source {
        Ok(source) => source,
        Err(e) => {
            let _ = format!("{e} {e:?}");
            return false;
        }
    };
    let info = source.info().clone();
    let _ = format!("{info:?}");
    if info.format.frame_bytes() > FRAME {
        return true;
    }
    let mut slot = Slot::default();
    let mut next = |source: &mut dyn Source| match source.next(&mut slot) {
        Ok(stamp) => stamp.map(|s| {
            assert_eq!(slot.frame.format(), &info.format);
            s.number
        }),
        Err(e) => {
            let _ = e.to_string();
            None
        }
    };
    for expected in 0..64 {
        let Some(number) = next(&mut *source) else { break };
        assert_eq!(number, expected);
    }
    for &place in places {
        match source.seek(place) {
            Ok(()) => {
                let got = next(&mut *source);
                assert!(got.is_none_or(|n| n == place), "frame {place} was asked for and {got:?} came");
            }
            Err(e) => drop(e.to_string()),
        }
    }
    true
}
