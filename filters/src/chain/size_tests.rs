//! Filters that change the size: what the chain converts for them, and what it refuses.

use super::*;
use crate::filter::testing::{at, frame_time, noise};
use crate::frame::{Depth, FieldOrder, Format, Frame};
use crate::host::{CurrentThread, Host, NoCache};
use crate::pixel::transfer::TransferFunction;
use crate::ratio::Ratio;
use crate::recipe::Recipe;
use crate::simd::Level;
use core::sync::atomic::AtomicBool;

fn bind(chain: &str, format: &Format) -> Result<Chain, ChainError> {
    let steps = chain.parse::<Recipe>().unwrap().steps;
    let fields = Fields::of(format.fields);
    let options = Options { seed: 0, level: Level::best(), first: 0, last: Some(9), fields };
    Chain::bind(&steps, *format, &options, |made| Ok(*made))
}

fn run(chain: &str, source: &Frame) -> Frame {
    let chain = bind(chain, source.format()).unwrap();
    let stop = AtomicBool::new(false);
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
    let mut frame = source.clone();
    let (mut work, states) = (Workspace::default(), States::default());
    chain.run(&frame_time(0), Ratio::ONE, &mut frame, &mut work, &states, &host).unwrap();
    assert_eq!(frame.format(), chain.output());
    assert!(chain.notes().iter().all(|note| !note.contains("f32")), "{:?}", chain.notes());
    frame
}

fn format(name: &str, width: u32, height: u32) -> Format {
    Format::from_name(name, width, height).unwrap()
}

#[test]
fn transparent_samples_have_no_weight() {
    // Red on the left, and a transparent green on the right.
    for name in ["gbrap", "gbrap16", "gbrapf32"] {
        let mut source = Frame::new(format(name, 16, 8));
        let top = source.format().depth.bits().map_or(1.0, |_| f64::from(source.format().codes().1));
        for (y, x) in (0..8).flat_map(|y| (0..16).map(move |x| (y, x))) {
            let [r, g, a] = if x < 8 { [top, 0.0, top] } else { [0.0, top, 0.0] };
            for (p, v) in [(0, g), (2, r), (3, a)] {
                match source.format().depth {
                    Depth::Bits(8) => source.row_mut::<u8>(p, y)[x] = v as u8,
                    Depth::Bits(_) => source.row_mut::<u16>(p, y)[x] = v as u16,
                    Depth::Float => source.row_mut::<f32>(p, y)[x] = v as f32,
                }
            }
        }
        for chain in ["scale=width=40:kernel=bilinear", "scale=width=40:kernel=bilinear:light=linear"] {
            let made = run(chain, &source);
            let mut partial = 0;
            for x in 0..40 {
                let [g, r, a] = [0, 2, 3].map(|p| at(&made, p, x, 3) / top);
                partial += i32::from(a > 0.1 && a < 0.9);
                assert!(a < 0.1 || (r > 0.999 && g < 0.001), "{name} {chain} {x}: {r} {g} {a}");
            }
            assert!(partial >= 1, "{name}");
        }
    }
}

#[test]
fn linear_light_is_averaged() {
    for (name, curve) in [("gbrp16", TransferFunction::Srgb), ("gray16", TransferFunction::Power(2.4))] {
        let mut source = Frame::new(format(name, 32, 32));
        let (low, high) = if name == "gray16" { (4096.0, 60160.0) } else { (0.0, 65535.0) };
        for p in 0..source.format().planes() {
            for y in 0..32 {
                let row = source.row_mut::<u16>(p, y);
                (0..)
                    .zip(row)
                    .for_each(|(x, v): (usize, _)| *v = if (x + y) % 2 == 0 { low } else { high } as u16);
            }
        }
        for (light, value) in [("gamma", 0.5), ("linear", curve.code(0.5))] {
            let made =
                run(&format!("scale=width=16:kernel=bilinear:light={light},dither=mode=none"), &source);
            let is = (at(&made, 0, 8, 8) - low) / (high - low);
            assert!((is - value).abs() < 0.002, "{name} {light}: {is}, not {value}");
        }
    }
}

#[test]
fn scaled_pictures_go_on_through_the_chain() {
    for name in ["yuv420p", "yuva420p", "yuv422p10", "gbrp", "grayf32", "ya8"] {
        for fields in [FieldOrder::Progressive, FieldOrder::TopFirst] {
            let source = noise(Format { fields, ..format(name, 66, 38) });
            let made =
                run("blur=sigma=30,scale=width=33:height=70:light=linear,noise,transform=rotate=9", &source);
            let to = made.format();
            assert_eq!(
                (to.width, to.height, to.depth, to.alpha),
                (33, 70, source.format().depth, source.format().alpha)
            );
            assert_eq!(to.transfer, source.format().transfer);
            assert_eq!(run("scale=width=66:kernel=bicubic,dither=mode=none", &source), source);
        }
    }
}

#[test]
fn single_pictures_are_scaled_as_in_a_chain() {
    for (name, fields) in [
        ("yuv420p", FieldOrder::TopFirst),
        ("gray10", FieldOrder::Progressive),
        ("gbrap", FieldOrder::Progressive),
    ] {
        let source = noise(Format { fields, ..format(name, 40, 24) });
        let made = scaled(source.as_ref(), 57, 18, Level::best()).unwrap();
        assert!(made == run("scale=width=57:height=18,dither=mode=none", &source));
        assert!(scaled(source.as_ref(), 0, 0, Level::best()).unwrap_err().to_string().contains("width"));
        assert!(scaled(source.as_ref(), 1 << 20, 9, Level::best()).is_err());
    }
}

#[test]
fn all_of_a_resized_picture_changes() {
    let format = format("yuv420p", 64, 32);
    for (chain, setting) in [("enable=2-", "enable"), ("planes=y", "planes"), ("opacity=0.5", "opacity")] {
        let error = bind(&format!("scale=width=32:{chain}"), &format).unwrap_err().to_string();
        assert!(error.starts_with(&format!("filter 1, 'scale': {setting}")), "{error}");
    }
    let steps = "scale=width=32".parse::<Recipe>().unwrap().steps;
    let options = Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
    let error = Chain::bind::<ChainError>(&steps, format, &options, |_| Ok(format)).unwrap_err().to_string();
    assert!(error.contains("32x16") && error.contains("scale=width=64:height=32"), "{error}");
}
