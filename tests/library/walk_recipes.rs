//! The recipes of `samples/` work on every kind of format.

use crate::fixture::{Random, bind, frames, picture};
use grainfield_filters::frame::{Depth, Format};
use grainfield_filters::host::CurrentThread;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;
use std::path::Path;

const FORMATS: [&str; 9] =
    ["gray", "ya16", "grayf32", "yuv420p", "yuv422p10", "yuva444p12", "gbrp", "gbrap16", "gbrapf32"];

#[test]
fn every_sample_recipe_works_on_every_kind_of_format() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/recipes");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let mut recipe = Recipe::parse_toml(&std::fs::read_to_string(&file).unwrap()).unwrap();
        recipe.relative_to(file.parent().unwrap());
        grainfield::session::job::load_files(&mut recipe).unwrap();
        for name in FORMATS {
            let format = Format::from_name(name, 64, 36).unwrap();
            let chain = bind(&recipe.steps, format, Level::best(), None)
                .unwrap_or_else(|e| panic!("{} on {name}: {e}", file.display()));
            // Only what is made for it changes the size.
            let size = |f: &Format| Format {
                width: 64,
                height: 36,
                aspect: format.aspect,
                matrix: format.matrix,
                ..*f
            };
            let resizes =
                ["scale.toml", "crop.toml", "letterbox.toml"].iter().any(|name| file.ends_with(name));
            let output = if resizes { size(chain.output()) } else { *chain.output() };
            assert_eq!(output, format, "{} on {name}", file.display());
            // A simulation of full size takes too long here. A blur keeps samples that have NaN near them, and the
            // light of `sprites.toml` is outside such a small picture, of which no part is flat for `deband.toml` or resembles another for
            // `denoise.toml`.
            let idle =
                ["sprites.toml", "deband.toml", "denoise.toml"].iter().any(|name| file.ends_with(name));
            if !chain.is_simulation() && format.depth != Depth::Float && !idle {
                let source = picture(&format, &mut Random(1));
                let [made] = frames(&chain, &source, [10], &CurrentThread);
                assert!(made != source, "{} on {name} does nothing", file.display());
            }
        }
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
}
