//! The main interface: previews are the frames of a render, from a source that is opened once.

use crate::support::hashes;
use crate::video::ffmpeg;
use grainfield::session::job::Request;
use grainfield::session::{self, Clip, Error, ErrorKind, Event, FRAME_BYTES, Newest, NoteCode, Render};
use grainfield::source::Missing;
use grainfield_filters::frame::Depth;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::settings::{Animated, Value};
use std::path::Path;

fn recipe(chain: &str) -> Recipe {
    chain.parse::<Recipe>().unwrap()
}

/// Numbered PNG images 10 to 14 in a folder, the pattern that names them.
fn images(folder: &Path) -> String {
    ffmpeg(folder, "-f lavfi -i testsrc=size=48x32:rate=5:duration=1 -start_number 10 a.%04d.png");
    folder.join("a.%04d.png").to_str().unwrap().to_owned()
}

#[test]
fn a_preview_is_the_frame_of_the_whole_render() {
    let folder = tempfile::tempdir().unwrap();
    let video = folder.path().join("a.mkv");
    ffmpeg(
        folder.path(),
        "-f lavfi -i testsrc=size=64x48:rate=12:duration=0.5 -c:v ffv1 -pix_fmt yuv422p10 a.mkv",
    );
    ffmpeg(
        folder.path(),
        "-f lavfi -i testsrc=size=64x48:rate=24:duration=0.5 -vf interlace -c:v ffv1 i.mkv",
    );
    let interlaced = folder.path().join("i.mkv");
    let (video, interlaced, images) =
        (video.to_str().unwrap(), interlaced.to_str().unwrap(), images(folder.path()));
    let chains = [
        "",
        "grain=preset=heavy:temporal=0.5,vignette",
        "particles=preset=snow:amount=2",
        "fluid",
        "noise=strength='0=0;-1=40':seed=7",
        "invert=enable=3-5,dither=mode=blue",
        "denoise=frames=2:strength=30",
    ];
    for input in [video, interlaced, images.as_str(), "pattern:bars:size=48x32:frames=6:format=yuv420p"] {
        let change = |request: &mut Request| request.frame_offset = 100;
        let mut request = Request::new(input, "hash:");
        change(&mut request);
        let clip = Clip::open(request).unwrap();
        for chain in chains.into_iter().filter(|chain| *chain != "fluid" || input.starts_with("pattern:")) {
            let whole = hashes(input, chain, change);
            let numbers = (whole.first().unwrap().0, whole.last().unwrap().0);
            assert_eq!((clip.info().first, clip.info().last), (numbers.0, Some(numbers.1)), "{input}");
            // In both directions, so that states lie on either side.
            for i in [4, 0, whole.len() - 1, 3, 3, 1] {
                let (number, hash) = &whole[i];
                let picture = clip.frame(*number, &recipe(chain)).unwrap();
                assert_eq!((picture.number, &picture.digest()), (*number, hash), "{input} {chain}");
            }
        }
    }
}

#[test]
fn a_changed_setting_neither_opens_nor_decodes_again() {
    let folder = tempfile::tempdir().unwrap();
    let clip = Clip::open(images(folder.path())).unwrap();
    let mut look = recipe("grain=preset=heavy");
    let before = clip.frame(12, &look).unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    look.steps[0].values.set("strength", Value::Number(Animated::Constant(2.5))).unwrap();
    let after = clip.frame(12, &look).unwrap();
    assert_ne!(before.digest(), after.digest());
    assert!((1..=FRAME_BYTES).contains(&clip.kept_bytes()));
    let gone = clip.frame(13, &look).unwrap_err();
    assert_eq!((gone.kind(), gone.position().frame), (ErrorKind::Input, Some(13)));
}

#[test]
fn the_newest_request_cancels_earlier_ones() {
    let clip = Clip::open("pattern:grey:size=64x48:frames=5").unwrap();
    let (pane, look) = (Newest::default(), recipe("noise"));
    let old = pane.request();
    let new = pane.request();
    assert!(matches!(clip.frame_cancellable(1, &look, &old), Err(Error::Cancelled)));
    clip.frame_cancellable(1, &look, &new).unwrap();
    new.cancel();
    assert_eq!(clip.frame_cancellable(1, &look, &new).unwrap_err().kind(), ErrorKind::Cancelled);
    // A cancelled preview must leave no wrong state.
    clip.frame_cancellable(1, &look, &pane.request()).unwrap();
}

#[test]
fn a_preview_can_have_the_format_of_an_output() {
    let clip = Clip::open("pattern:bars:size=48x32:format=yuv420p10:frames=3").unwrap();
    let look = recipe("grain");
    let format = |change: fn(&mut Request)| {
        let mut request = Request::from("pattern:bars:size=48x32:format=yuv420p10:frames=3");
        change(&mut request);
        Clip::open(request).unwrap().frame(1, &look).map(|p| *p.format())
    };
    assert_eq!(format(|_| ()).unwrap().depth, Depth::Bits(10));
    assert_eq!(format(|request| request.pix_fmt = Some("gbrp".into())).unwrap().name(), "gbrp");
    assert_eq!(format(|request| request.output = "a.jpg".into()).unwrap().depth, Depth::Bits(8));
    let nonsense = format(|request| request.pix_fmt = Some("nonsense".into()));
    assert_eq!(nonsense.unwrap_err().kind(), ErrorKind::Usage);
    let grey = clip.frame(1, &recipe("fade=amount=1:color=#808080:planes=all")).unwrap();
    let rgba = grey.to_rgba8().unwrap();
    assert_eq!(rgba.len(), 4 * 48 * 32);
    assert!(
        rgba.chunks(4).all(|p| p[..3].iter().all(|v| v.abs_diff(128) < 2) && p[3] == 255),
        "{:?}",
        &rgba[..8]
    );
}

#[test]
fn a_preview_can_be_saved_as_an_image() {
    let folder = tempfile::tempdir().unwrap();
    let clip = Clip::open("pattern:bars:size=49x33:format=gbrp16:frames=3").unwrap();
    let picture = clip.frame(1, &recipe("noise=strength=8")).unwrap();
    let file = folder.path().join("a.png");
    picture.save(&file).unwrap();
    assert_eq!(grainfield::format::images::read(&file).unwrap().digest(), picture.frame.digest());
    assert_eq!(picture.save(&file).unwrap_err().kind(), ErrorKind::Output);
    picture.overwrite(&file).unwrap();
    assert_eq!(picture.overwrite(folder.path().join("a.doc")).unwrap_err().kind(), ErrorKind::Usage);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn errors_have_a_kind_and_a_place() {
    assert_eq!(Clip::open("/no/such.mp4").unwrap_err().kind(), ErrorKind::Input);
    let clip = Clip::open("pattern:grey:size=16x16:frames=5").unwrap();
    let late = clip.frame(5, &Recipe::default()).unwrap_err();
    assert_eq!((late.kind(), late.position().frame), (ErrorKind::Usage, Some(5)));
    let filter = clip.frame(0, &recipe("noise,noise=planes=a")).unwrap_err();
    assert_eq!((filter.kind(), filter.position().filter), (ErrorKind::Usage, Some(2)));
    let image = clip.frame(0, &recipe("sprites=image=/no/such.png")).unwrap_err();
    assert_eq!(image.kind(), ErrorKind::Input);
}

#[test]
fn recipes_have_a_name_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.toml");
    std::fs::write(&file, "[[filter]]\nname = 'sprites'\nimage = 'dot.png'\n").unwrap();
    let own = session::recipe(&file).unwrap();
    assert!(own.to_chain().contains(folder.path().join("dot.png").to_str().unwrap()), "{}", own.to_chain());
    assert_eq!(session::recipe("super8").unwrap(), session::recipe("look-super8").unwrap());
    std::fs::write(&file, "[[filter]]\nname = 'grian'\n").unwrap();
    for (name, kind, said) in
        [(file.as_path(), ErrorKind::Usage, "own.toml:2:"), (Path::new("a.toml"), ErrorKind::Input, "a.toml")]
    {
        let error = session::recipe(name).unwrap_err();
        assert!(error.kind() == kind && error.to_string().contains(said), "{error}");
    }
}

#[test]
fn an_output_is_replaced_when_asked_and_ranges_may_be_open() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.y4m");
    let clip = Clip::open("pattern:bars:size=32x16:frames=10").unwrap();
    let render = || clip.render(&Recipe::default()).frames(7..).to(&file);
    assert_eq!(render().run(|_| ()).unwrap().frames, 3);
    assert_eq!(render().run(|_| ()).unwrap_err().kind(), ErrorKind::Output);
    assert_eq!(render().overwrite().run(|_| ()).unwrap().frames, 3);
}

#[test]
#[should_panic(expected = "another type")]
fn samples_have_the_type_of_their_depth() {
    let clip = Clip::open("pattern:bars:size=32x16:frames=1").unwrap();
    clip.frame(0, &Recipe::default()).unwrap().frame.row::<u16>(0, 0);
}

#[test]
fn a_file_that_a_recipe_names_is_read_again_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let track = folder.path().join("a.txt");
    let look = recipe(&format!("fade=amount=@{}:planes=all", track.display()));
    let clip = Clip::open("pattern:bars:size=16x16:frames=5").unwrap();
    std::fs::write(&track, "0=0").unwrap();
    let none = clip.frame(2, &look).unwrap().digest();
    std::fs::write(&track, "0=1;9=1").unwrap();
    assert_ne!(clip.frame(2, &look).unwrap().digest(), none);
}

#[test]
fn frames_of_the_source_that_a_recipe_names_are_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let input = images(folder.path());
    let chain = "fluid=obstacle_frame=12";
    let mut request = Request::new(&input, "hash:");
    request.missing = Missing::Hold;
    let clip = Clip::open(request).unwrap();
    for (number, hash) in hashes(&input, chain, |_| {}) {
        assert_eq!(clip.frame(number, &recipe(chain)).unwrap().digest(), hash);
    }
}

#[test]
fn neighbouring_frames_are_those_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    ffmpeg(
        folder.path(),
        "-f lavfi -i testsrc2=size=64x48:rate=12:duration=1,noise=alls=12:allf=t -frames:v 8 -pix_fmt yuv420p a.y4m",
    );
    ffmpeg(folder.path(), "-i a.y4m -c:v ffv1 -g 3 a.mkv");
    ffmpeg(folder.path(), "-i a.y4m -start_number 1001 b.%04d.png");
    let name = |file: &str| folder.path().join(file).to_str().unwrap().to_owned();
    // The noise of a dither depends on the number of the frame.
    let chain = "denoise=frames=1:strength=12,invert,dither=mode=none";
    let all = |input: &str| hashes(&name(input), chain, |_| {});
    let (whole, images) = (all("a.y4m"), all("b.%04d.png"));
    assert_eq!((whole.len(), &all("a.mkv")), (8, &whole));
    let alone = hashes(&name("a.y4m"), "denoise=frames=0:strength=12,invert,dither=mode=none", |_| {});
    assert!(whole.iter().zip(&alone).all(|(a, b)| a.1 != b.1));
    for (input, frames, offset, whole) in [
        ("a.mkv", "5", 0, &whole),
        ("a.y4m", "103-104", 100, &whole),
        ("b.%04d.png", "1008", 0, &images),
        ("b.%04d.png", "1", -1000, &images),
    ] {
        let part = hashes(&name(input), chain, |request| {
            request.frames = Some(frames.parse().unwrap());
            request.frame_offset = offset;
        });
        let first = whole[0].0;
        for (number, hash) in part {
            assert_eq!(hash, whole[(number - offset - first) as usize].1, "{input} {frames} {offset}");
        }
    }
    // A sequence with a hole has nothing there.
    std::fs::remove_file(name("b.1005.png")).unwrap();
    let holed = hashes(&name("b.%04d.png"), chain, |request| request.missing = Missing::Skip);
    assert!(holed.len() == 7 && holed[2] == images[2] && holed[3] != images[3] && holed[5] == images[6]);
    let failure = |input: &str, chain: &str| {
        let request = Request { recipe: recipe(chain), ..Request::new(input, "hash:") };
        Render::new(request).prepare().map(|_| ()).unwrap_err().to_string()
    };
    let said = failure("-", chain);
    assert!(said.contains("denoise") && said.contains("give a file, or frames=0"), "{said}");
    let said = failure(&name("a.y4m"), "invert,denoise=frames=1");
    assert!(said.contains("filter 2, 'denoise'") && said.contains("put it first"), "{said}");
}

#[test]
fn a_render_reports_its_frames_and_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let input = images(folder.path());
    let clip = Clip::open(&input).unwrap();
    let (look, file) = (recipe("grain"), folder.path().join("out.y4m"));
    let render = |clip: &Clip| clip.render(&look).frames(11..14).to(&file);
    let prepared = render(&clip).prepare().unwrap();
    assert!(prepared.total() == Some(3) && !file.exists(), "{:?}", prepared.notes());
    let running = prepared.start();
    let frames: Vec<i64> = running
        .events()
        .filter_map(|event| if let Event::Frame(frame) = event { Some(frame.number) } else { None })
        .collect();
    assert_eq!((frames, running.wait().unwrap().frames), (vec![11, 12, 13], 3));
    assert!(file.exists());
    // The existing file stays, and the clip still renders frames.
    assert_eq!(render(&clip).start().err().unwrap().kind(), ErrorKind::Output);
    let none = clip.render(&look).frames(11..11).to("null:").run(|_| ());
    assert_eq!(none.unwrap_err().kind(), ErrorKind::Usage);
    clip.frame(11, &look).unwrap();

    let long = Clip::open("pattern:zoneplate:size=320x240").unwrap();
    let running = long.render(&look).to("null:").start().unwrap();
    assert!(matches!(running.events().next(), Some(Event::Frame(_))));
    running.cancel();
    assert_eq!(running.wait().unwrap_err().kind(), ErrorKind::Cancelled);
    // More events than the buffer holds: a listener receives all of them, and a job without one does not
    // block.
    let many = Clip::open("pattern:grey:size=16x16:frames=6000").unwrap();
    let running = many.render(&recipe("")).to("null:").start().unwrap();
    std::thread::yield_now();
    assert_eq!(running.events().filter(|event| matches!(event, Event::Frame(_))).count(), 6000);
    let running = many.render(&recipe("")).to("null:").start().unwrap();
    assert_eq!(running.wait().unwrap().frames, 6000);
    // Dropping a job ends it.
    drop(long.render(&look).to("null:").start().unwrap());
}

#[test]
fn notes_have_codes() {
    let codes = |output: &str| -> Vec<NoteCode> {
        let folder = tempfile::tempdir().unwrap();
        let request =
            Request::new("pattern:bars:size=16x16:frames=2:format=gbrap16", folder.path().join(output));
        Render::new(request).prepare().unwrap().notes().iter().map(|note| note.code).collect()
    };
    let lost = codes("a.%d.jpg");
    assert!(lost.contains(&NoteCode::AlphaLost) && lost.contains(&NoteCode::DepthLost), "{lost:?}");
    assert!(!codes("a.%d.png").iter().any(|code| code.is_loss()));
}

#[test]
fn levels_change_channels_of_rgb_in_yuv_too() {
    let clip = Clip::open("pattern:ramp:size=256x720:frames=1:format=yuv444p16").unwrap();
    let source = clip.frame(0, &recipe("")).unwrap().frame;
    let shown = |frame: &grainfield_filters::frame::Frame, x: usize| {
        let code = |p: usize| f64::from(frame.row::<u16>(p, 3)[x]) / 256.0;
        let (y, u, v) = ((code(0) - 16.0) / 219.0, (code(1) - 128.0) / 224.0, (code(2) - 128.0) / 224.0);
        let (r, b) = (y + 1.5748 * v, y + 1.8556 * u);
        [r, (y - 0.2126 * r - 0.0722 * b) / 0.7152, b]
    };
    let bent = |t: f64| {
        // Reinhard's curve from 0.6 on, which ends at 1 where t is 2.
        let (from, part, u) = (0.6, 0.4, (t - 0.6) / 0.4);
        let reach: f64 = (2.0 - from) / part;
        if t > from { from + part * u * (1.0 + u / (reach * reach)) / (1.0 + u) } else { t }
    };
    for (chain, want) in [
        (
            "levels=channel=r:gamma=2",
            &(|[r, g, b]: [f64; 3]| [r.max(0.0).sqrt(), g, b]) as &dyn Fn([f64; 3]) -> [f64; 3],
        ),
        ("levels=channel=rgb:white=0.5:shoulder=0.4", &|rgb| rgb.map(|v| bent(v * 2.0).min(1.0))),
    ] {
        let made = clip.frame(0, &recipe(chain)).unwrap().frame;
        for x in (0..256).step_by(5) {
            let (got, want) = (shown(&made, x), want(shown(&source, x)));
            assert!(
                got.iter().zip(want).all(|(a, b)| (a - b).abs() < 2e-4),
                "{chain} at {x}: {got:?} {want:?}"
            );
        }
    }
}

#[test]
fn far_frames_in_long_groups_of_pictures_are_those_of_a_render() {
    let folder = tempfile::tempdir().unwrap();
    for (name, codec) in [
        ("a.mp4", "-c:v libx264 -g 90 -bf 3 -x264-params b-pyramid=normal:open-gop=1"),
        ("b.mkv", "-c:v mpeg2video -g 60 -bf 2"),
        ("c.ts", "-vf setfield=tff -c:v libx264 -flags +ildct+ilme -g 90 -bf 2"),
    ] {
        ffmpeg(folder.path(), &format!("-f lavfi -i testsrc2=size=96x64:rate=25:duration=8 {codec} {name}"));
        let path = folder.path().join(name);
        let path = path.to_str().unwrap();
        let whole = hashes(path, "noise", |_| {});
        assert_eq!(whole.len(), 200);
        let clip = Clip::open(path).unwrap();
        for n in [160, 71, 131, 72, 199, 88, 40, 161, 3] {
            let picture = clip.frame(n, &recipe("noise")).unwrap();
            assert_eq!((n, picture.digest()), whole[n as usize], "{name}");
        }
    }
}
