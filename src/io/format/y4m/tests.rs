use super::*;

/// A stream of 4x2 grey frames, each filled with its number, with the given text after every FRAME.
fn stream(parameters: &[&str]) -> Vec<u8> {
    let mut all = b"YUV4MPEG2 W4 H2 F25:1 Ip A1:1 Cmono\n".to_vec();
    for (n, text) in parameters.iter().enumerate() {
        all.extend_from_slice(format!("FRAME{text}\n").as_bytes());
        all.extend_from_slice(&[n as u8; 8]);
    }
    all
}

fn file(bytes: &[u8]) -> (tempfile::NamedTempFile, Result<Box<dyn Source>, SourceError>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let source = open(file.path().as_os_str(), &Options::default());
    (file, source)
}

fn pipe(bytes: &[u8]) -> Result<Box<dyn Source>, SourceError> {
    from_reader("pipe".into(), Box::new(io::Cursor::new(bytes.to_vec())), &Options::default())
}

fn slot() -> Slot {
    Slot::default()
}

/// The next frame's number, from its stamp and from its samples.
fn next(source: &mut dyn Source) -> Result<Option<i64>, SourceError> {
    let mut slot = slot();
    let stamp = source.next(&mut slot)?;
    Ok(stamp.map(|stamp| {
        assert_eq!(slot.frame.row::<u8>(0, 1), [stamp.number as u8; 4]);
        assert_eq!(stamp.time, Ratio::new(stamp.number, 25).unwrap());
        stamp.number
    }))
}

#[test]
fn parameters_come_along_and_lengths_may_vary() {
    let texts = ["", " Ixyz", "", " XFOO=1 Itp1", " ", "", " X", "", ""];
    let bytes = stream(&texts);
    let (_file, source) = file(&bytes);
    for mut source in [source.unwrap(), pipe(&bytes).unwrap()] {
        let mut slot = slot();
        for (n, text) in texts.iter().enumerate() {
            let stamp = source.next(&mut slot).unwrap().unwrap();
            assert_eq!((stamp.number, slot.frame.row::<u8>(0, 0)[0]), (n as i64, n as u8));
            let said = stamp.carried.map(|c| c.downcast_ref::<Y4mFrame>().unwrap().parameters.clone());
            assert_eq!(said.unwrap_or_default(), text.as_bytes());
        }
        assert!(source.next(&mut slot).unwrap().is_none());
        assert!(source.next(&mut slot).unwrap().is_none());
    }
}

#[test]
fn files_go_anywhere_and_pipes_forward() {
    for texts in [&[""; 40][..], &["", " X1", " X", "", " X=12345678", "", ""]] {
        let bytes = stream(texts);
        let count = texts.len() as i64;
        let (_file, source) = file(&bytes);
        let mut source = source.unwrap();
        assert_eq!((source.info().last, source.info().seekable), (Some(count - 1), true));
        let mut n = 0;
        for step in 0..200 {
            n = (n * 7 + step) % count;
            source.seek(n).unwrap();
            assert_eq!(next(&mut *source).unwrap(), Some(n));
        }
        for outside in [-1, count, i64::MIN, i64::MAX] {
            assert!(source.seek(outside).is_err());
        }
        source.seek(0).unwrap();
        while next(&mut *source).unwrap().is_some() {}
        source.seek(count - 1).unwrap();
        assert_eq!(next(&mut *source).unwrap(), Some(count - 1));

        let mut source = pipe(&bytes).unwrap();
        assert_eq!((source.info().last, source.info().seekable), (None, false));
        source.seek(3).unwrap();
        assert_eq!(next(&mut *source).unwrap(), Some(3));
        assert!(source.seek(3).unwrap_err().to_string().contains("backwards"));
        source.seek(4).unwrap();
        assert_eq!(next(&mut *source).unwrap(), Some(4));
        assert!(source.seek(count + 5).unwrap_err().to_string().contains("only"));
        assert_eq!(next(&mut *source).unwrap(), None);
    }
}

#[test]
fn a_wrong_length_is_detected() {
    // a frame takes 14 bytes, and the second FRAME line is 14 bytes longer: as long as three plain frames
    let bytes = stream(&["", " X=0123456789A"]);
    let (_file, source) = file(&bytes);
    let mut source = source.unwrap();
    assert_eq!(source.info().last, Some(2));
    assert_eq!(next(&mut *source).unwrap(), Some(0));
    assert_eq!(next(&mut *source).unwrap(), Some(1));
    assert!(next(&mut *source).unwrap_err().to_string().contains("through a pipe"));
    source.seek(2).unwrap();
    assert!(next(&mut *source).is_err());
    // the first is the long one: 28 + 14 + 14 bytes are two frames like the first
    let bytes = stream(&[" X=0123456789A", "", ""]);
    let (_file, source) = file(&bytes);
    let mut source = source.unwrap();
    assert_eq!(source.info().last, Some(1));
    assert_eq!(next(&mut *source).unwrap(), Some(0));
    assert_eq!(next(&mut *source).unwrap(), Some(1));
    assert!(next(&mut *source).unwrap_err().to_string().contains("through a pipe"));
}

#[test]
fn a_truncation_is_reported_with_its_position() {
    let bytes = stream(&["", "", ""]);
    let header = bytes.len() - 3 * 14;
    for cut in header + 1..bytes.len() {
        let part = &bytes[..cut];
        let (_file, source) = file(part);
        let got = (cut - header) % 14;
        for source in [source, pipe(part)] {
            let outcome = source.and_then(|mut source| {
                while next(&mut *source)?.is_some() {}
                assert_eq!(
                    source.info().last,
                    Some((cut - header) as i64 / 14 - 1).filter(|_| source.info().seekable)
                );
                Ok(())
            });
            match outcome {
                Ok(()) => assert_eq!(got, 0),
                Err(SourceError::Truncated { number, got: there, want, .. }) => {
                    assert_eq!(number, ((cut - header) / 14) as i64);
                    assert_eq!((there, want), (got.saturating_sub(6) as u64, 8));
                }
                Err(e) => panic!("{e}"),
            }
        }
    }
    for cut in 0..header {
        let e = pipe(&bytes[..cut]).err().unwrap().to_string();
        assert!(e.contains(if cut < 9 { "YUV4MPEG2" } else { "inside the header" }), "{cut}: {e}");
    }
    // the header alone is a stream of no frames
    let (_file, source) = file(&bytes[..header]);
    let mut source = source.unwrap();
    assert_eq!(source.info().last, Some(-1));
    assert!(next(&mut *source).unwrap().is_none() && source.seek(0).is_err());
}

#[test]
fn a_missing_frame_line_is_reported() {
    let mut bytes = stream(&["", ""]);
    let twice = [bytes.clone(), bytes.clone()].concat();
    let mut source = pipe(&twice).unwrap();
    let last = std::iter::repeat_with(|| next(&mut *source)).find(|n| n.is_err()).unwrap();
    assert!(last.unwrap_err().to_string().contains("a second header"));
    let at = bytes.len() - 14;
    bytes[at] = b'X';
    let mut source = pipe(&bytes).unwrap();
    assert_eq!(next(&mut *source).unwrap(), Some(0));
    let e = next(&mut *source).unwrap_err().to_string();
    assert!(e.contains("frame 1 should begin at byte 50"), "{e}");
    assert_eq!(next(&mut *source).unwrap(), None);
    let long = stream(&[&format!(" X{}", "y".repeat(5000))]);
    assert!(next(&mut *pipe(&long).unwrap()).unwrap_err().to_string().contains("longer than 4096"));
}

#[test]
fn endless_and_absurd_headers_are_refused_at_once() {
    let endless =
        || -> Box<dyn Read + Send> { Box::new(io::Read::chain(&b"YUV4MPEG2 X"[..], io::repeat(b'y'))) };
    let e = from_reader("pipe".into(), endless(), &Options::default()).err().unwrap().to_string();
    assert!(e.contains("longer than 65536"), "{e}");
    let e =
        from_reader("pipe".into(), Box::new(io::repeat(0)), &Options::default()).err().unwrap().to_string();
    assert!(e.contains("begin with"), "{e}");
    // frames of 2 GiB, declared by a file of a few bytes
    let (_file, source) = file(b"YUV4MPEG2 W32768 H65536 F25:1 Cmono\nFRAME\nabc");
    assert!(matches!(source, Err(SourceError::Truncated { number: 0, got: 3, .. })));
    let folder = tempfile::tempdir().unwrap();
    let e = open(folder.path().as_os_str(), &Options::default()).err().unwrap().to_string();
    assert!(e.contains("is a folder"), "{e}");
}

#[test]
fn samples_above_the_depth_become_the_largest() {
    let mut bytes = b"YUV4MPEG2 W4 H1 F25:1 Cmono10\nFRAME\n".to_vec();
    for x in [0u16, 1023, 1024, 0xffff] {
        bytes.extend_from_slice(&x.to_le_bytes());
    }
    let mut slot = slot();
    pipe(&bytes).unwrap().next(&mut slot).unwrap().unwrap();
    assert_eq!(slot.frame.row::<u16>(0, 0), [0, 1023, 1023, 1023]);
}

/// Damaged streams end with a result or an error, never with a panic, and without much memory.
#[test]
fn damaged_streams_do_no_harm() {
    let good = stream(&["", " Ipp", "", " X"]);
    let words: &[&[u8]] =
        &[b"W", b"H4294967296", b"C420p10", b" ", b"F0:0", b"FRAME", b"\n", b"\0", b"XYSCSS=", b"-1", b":"];
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..1 + random(4) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = random(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => {
                    let word = words[random(words.len())];
                    bytes.splice(at..at, word.iter().copied());
                }
                _ => {
                    let end = (at + 1 + random(8)).min(bytes.len());
                    bytes.drain(at..end);
                    bytes.push(b'\n');
                }
            }
        }
        let Ok(mut source) = pipe(&bytes) else { continue };
        if source.info().format.frame_bytes() > 1 << 20 {
            continue;
        }
        let mut slot = slot();
        for _ in 0..100 {
            match source.next(&mut slot) {
                Ok(Some(_)) => assert_eq!(slot.frame.format(), &source.info().format),
                Ok(None) => break,
                Err(_) => assert!(matches!(source.next(&mut slot), Ok(None))),
            }
        }
    }
}
