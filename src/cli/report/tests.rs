use super::*;

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The text on standard error of a short job, in one of the forms.
fn report_text(form: Form, verbosity: Verbosity, error: Option<&str>) -> String {
    let page = Page::default();
    let console = Console::to(Box::new(page.clone()), form, verbosity, Style::default());
    let report = Reporter::with_console(Arc::new(console), None, None);
    report.note("the range is taken as limited");
    report.detail("level avx2");
    report.begin(&Start {
        input: "in.y4m".into(),
        output: "out.y4m".into(),
        recipe: "noise".into(),
        total: Some(100),
        rate: Ratio::whole(24),
    });
    // Terminals and JSON show it.
    report.simulating(7, 90);
    for done in 1..=100 {
        let out_time = Ratio::new(done, 24).unwrap();
        report.step(&FrameDone {
            done: done as u64,
            failed: 0,
            total: Some(100),
            number: done - 1,
            out_time,
            left_out: false,
        });
    }
    report.end(&JobEnd {
        exit: if error.is_some() { Exit::Failed } else { Exit::Done },
        error,
        partial: error.map(|_| Path::new("out.partial.y4m")),
        summary: Summary { frames: 100, ..Summary::default() },
        reader_gone: false,
    });
    String::from_utf8(page.0.lock().unwrap().clone()).unwrap()
}

#[test]
fn plain() {
    let text = report_text(Form::Plain, Verbosity::Normal, None);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(lines[0], "note: the range is taken as limited");
    assert!(lines[1].starts_with("done: 100 frames to out.y4m in "), "{text}");
    assert!(report_text(Form::Plain, Verbosity::Verbose, None).contains("note: level avx2\n"));
    assert_eq!(report_text(Form::Plain, Verbosity::Quiet, None), "");
}

#[test]
fn an_error_is_printed_in_every_form() {
    let expected = "error: in.y4m: bad\npartial result: out.partial.y4m (100 frames)\n";
    assert_eq!(report_text(Form::Plain, Verbosity::Quiet, Some("in.y4m: bad")), expected);
}

#[test]
fn json_is_json_in_every_line_and_rare() {
    for error in [None, Some("in.y4m: bad")] {
        let text = report_text(Form::Json, Verbosity::Normal, error);
        let events: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let names: Vec<_> = events.iter().map(|e| e["event"].as_str().unwrap()).collect();
        assert_eq!(names[..3], ["note", "started", "simulating"]);
        assert_eq!(names.last(), Some(&if error.is_some() { "failed" } else { "done" }));
        // A hundred steps take no time: the first event is reported, the rest fall under the rate limit (a slow machine may
        // report more).
        assert!(events.len() < 50, "{text}");
    }
}

#[test]
fn ffmpeg_blocks_end_with_end() {
    let text = report_text(Form::Ffmpeg, Verbosity::Quiet, None);
    assert!(text.starts_with("frame=1\n"), "{text}");
    assert!(text.ends_with("progress=end\n"), "{text}");
    assert!(text.contains("frame=100\n"), "{text}");
}
