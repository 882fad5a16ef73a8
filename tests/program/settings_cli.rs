//! Invalid settings, as a newcomer may type them: each is a usage error at its position, with what would be right,
//! before anything is written.

use crate::util::Session;

/// The chain, the text under which the mark is (empty for errors without a single position), and parts of the
/// message.
const BAD: &[(&str, &str, &[&str])] = &[
    // Not numbers, and numbers out of range.
    ("noise=strength=nan", "nan", &["strength: not a finite number: write 12, 0.5 or 1e-3"]),
    ("noise=strength=inf", "inf", &["strength: not a finite number"]),
    ("grain=strength=1e400", "1e400", &["strength: not a finite number"]),
    ("noise=strength=loud", "loud", &["strength: not a number: write 12, 0.5 or 1e-3"]),
    ("noise=strength=3dB", "3dB", &["strength: not a number"]),
    ("grain=strength=1e9", "1e9", &["strength: 1000000000 is not from 0 to 100"]),
    ("grain=size=-1", "-1", &["size: -1 is not from 0 to 16"]),
    ("grain=sharpness=1.5", "1.5", &["sharpness: 1.5 is not from -1 to 1"]),
    ("grain=temporal=1", "1", &["temporal: 1 is not from 0 to 0.9"]),
    ("grain=hold=0", "0", &["hold: 0 is not from 1 to 1000"]),
    ("noise=octaves=9", "9", &["octaves: 9 is not from 1 to 8"]),
    ("dither=bits=7", "7", &["bits: 7 is not from 8 to 16"]),
    ("noise=seed=-1", "-1", &["seed: not a seed: write 0 to 18446744073709551615"]),
    ("noise=opacity=2", "2", &["opacity: 2 is not from 0 to 1"]),
    ("noise=strength=3,5", "5", &["there is no filter '5'", "numbers have a decimal point, as in 0.5"]),
    // Words.
    ("grain=preset=36mm", "36mm", &["preset: write one of light, medium, heavy", "did you mean '35mm'?"]),
    ("atmosphere=preset=cloud", "cloud", &["mist, clouds, veil", "did you mean 'clouds'?"]),
    ("noise=distribution=gausian", "gausian", &["uniform, binomial, gaussian", "did you mean 'gaussian'?"]),
    ("dither=mode=white", "white", &["mode: write one of tpdf, hp-tpdf, blue, uniform, none"]),
    ("noise=static=maybe", "maybe", &["static: write true or false"]),
    ("grain=strenght=3", "strenght", &["'grain' has no setting 'strenght'", "did you mean 'strength'?"]),
    ("grian", "grian", &["there is no filter 'grian'", "did you mean 'grain'?"]),
    ("noise=planes=q", "q", &["planes are named y u v"]),
    // Curves and points.
    ("grain=points='0=0;0.6=1;0.5=0'", "0.5=0", &["ascending x", "0.5 cannot follow 0.6"]),
    ("grain=points='0=0;1=2'", "1=2", &["y of a point is from 0 to 1, not 2"]),
    ("grain=points='0=0;1=nan'", "1=nan", &["x=y;x=y, such as 0=0;0.5=1;1=0.2"]),
    ("grain=points='0.5'", "0.5", &["x=y;x=y, such as 0=0;0.5=1;1=0.2"]),
    ("noise=strength='5=1;3=2'", "3=2", &["key 2 must be later than the one before it"]),
    ("grain=size='0=1;10=nan'", "nan", &["size: not a finite number"]),
    ("grain=size='0=1;10=99'", "10=99", &["size: 99 is not from 0 to 16"]),
    ("noise=enable=9-3", "9-3", &["9 is after 3", "3-9"]),
    // Missing values, and extra ones.
    ("grain=size", "size", &["'size' needs a value: write size=value"]),
    ("noise=strength=1:strength=2", "strength", &["'strength' is given twice"]),
    // Combinations of settings that are valid one by one.
    ("grain=curve=film:points='0=0;1=1'", "", &["points: they replace the curve: give only one of the two"]),
    ("noise=samples=3", "", &["it applies to distribution=binomial only: add that, or leave this out"]),
    ("noise=persistence=2", "", &["needs octaves=2 or more"]),
    ("noise=correlation=0.3", "", &["temporal=ar1 only"]),
    ("noise=octaves=3:across=5", "", &["either octaves, or across and down"]),
    ("noise=state=0", "", &["the state 0x0 would stay zero", "lower 31 bits must be set"]),
    ("noise=state=1:seed=2", "", &["it replaces the seed: give only one of the two"]),
    ("noise=generator=xs64:layout=sequential", "", &["generator=lfsr31 only"]),
    ("noise=layout=sequential:octaves=3", "", &["use layout=keyed"]),
    ("dither,noise", "", &["bits: only the last filter can omit them", "move the filter to the end"]),
];

#[test]
fn bad_settings_are_refused_with_the_accepted_values() {
    let s = Session::new();
    for (chain, place, said) in BAD {
        let mut command = s.command("render pattern:grey:size=16x16:frames=1 out.y4m -f");
        let o = command.arg(chain).output().expect("the program runs");
        let err = String::from_utf8(o.stderr).expect("messages are text");
        assert!(o.status.code() == Some(2) && o.stdout.is_empty(), "{chain}: {:?}\n{err}", o.status);
        for words in *said {
            assert!(err.contains(words), "{chain}: '{words}' is not in\n{err}");
        }
        // The chain is shown, with a mark under the fault of the same length.
        let lines: Vec<&str> = err.lines().collect();
        let shown = lines.iter().position(|l| l.trim() == *chain);
        assert_eq!(shown.is_some(), !place.is_empty(), "{chain}:\n{err}");
        if let Some(marks) = shown.and_then(|i| lines.get(i + 1)) {
            let from = marks.find('^').unwrap_or_else(|| panic!("{chain}: no mark in\n{err}"));
            let marked = &lines[shown.unwrap_or(0)][from..];
            let len = marks[from..].bytes().take_while(|b| b"^~".contains(b)).count();
            assert_eq!(&marked[..len], *place, "{chain}:\n{err}");
        }
    }
    assert_eq!(s.files(), [""; 0]);
}

#[test]
fn recipes_say_the_line() {
    let s = Session::new();
    for (text, said) in [
        ("[[filter]]\nname = 'grain'\nstrength = nan\n", "bad.toml:3:12: strength: not a finite number"),
        ("[[filter]]\nname = 'grain'\nsize = -1\n", "bad.toml:3:8: size: -1 is not from 0 to 16"),
        (
            "[[filter]]\nname = 'grain'\npreset = '36mm'\n",
            "bad.toml:3:11: preset: write one of light, medium",
        ),
        ("[[filter]]\nname = 'grain'\npoints = '0=0;0.6=1;0.5=0'\n", "0.5 cannot follow 0.6"),
        ("[[filter]]\nname = 'grian'\n", "there is no filter 'grian'"),
    ] {
        s.write("bad.toml", text);
        s.run("render pattern:grey:size=16x16:frames=1 out.y4m --recipe bad.toml").ends(2).says(said);
    }
    assert_eq!(s.files(), ["bad.toml"]);
}

#[test]
fn keys_before_the_first_frame_are_noticed() {
    let s = Session::new();
    let line = |keys: &str| {
        format!("hash pattern:bars:size=32x16:frames=3 --frame-offset 1001 -f fade=amount={keys}")
    };
    s.run(&line("0=1\\;24=0")).ok().says("'fade': amount: the curve does not move").says("1001");
    for keys in ["0=1\\;1002=0", "0s=1\\;1s=0", "0%=1\\;100%=0"] {
        let o = s.run(&line(keys)).ok();
        assert!(!o.err.contains("does not move"), "{keys}: {}", o.err);
    }
}
