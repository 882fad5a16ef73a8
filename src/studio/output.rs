//! The output of a render before it starts: the encoder and the sample format.

use super::error_response::Json;
use super::fault::Fault;
use super::state::{Answer, Shared, answer};
use axum::extract::State;
use grainfield_filters::frame::{Depth, Format};
use grainfield_io::encoding::Encoding;
use grainfield_io::format::{Files, Formats};
use grainfield_io::journal::segments;
use grainfield_io::sink::Output;
use grainfield_render::session::job::{Request, target};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsStr;

#[derive(Deserialize)]
pub(super) struct OutputRequest {
    clip: u32,
    /// The recipe's key.
    key: String,
    output: String,
    /// As for a job.
    #[serde(default)]
    options: BTreeMap<String, String>,
}

/// The encoder that writes a video; `None` for other outputs.
#[cfg(feature = "ffmpeg")]
fn encoder(output: &OsStr, format: &Format, encoding: &Encoding) -> Option<String> {
    grainfield_io::libav::sink::encoder_of(output, format, encoding)
}

#[cfg(not(feature = "ffmpeg"))]
fn encoder(_: &OsStr, _: &Format, _: &Encoding) -> Option<String> {
    None
}

pub(super) async fn resolve(State(studio): Shared, Json(request): Json<OutputRequest>) -> Answer {
    answer(&studio, move |studio, cancel| {
        let path = studio.roots.within(&request.output)?;
        let key = u128::from_str_radix(&request.key, 16).map_err(Fault::new)?;
        let recipe = studio.known(key)?;
        let (native, _) = studio.clip(request.clip)?.check(&recipe, cancel).map_err(Fault::from)?;
        let option = |name: &str| request.options.get(name).cloned();
        let quality =
            |text: String| text.parse().map_err(|_| Fault::new(format!("{text}: quality is a number")));
        let pair = option("codec-opt");
        let pair = pair.as_deref().and_then(|text| text.split_once('='));
        let encoding = Encoding {
            codec: option("codec"),
            options: pair.map(|(k, v)| (k.into(), v.into())).into_iter().collect(),
            crf: option("crf").map(quality).transpose()?,
            preset: option("preset"),
            ..Encoding::default()
        };
        let output = Output::parse(path.as_os_str(), Formats::default()).map_err(Fault::new)?;
        let input = OsStr::new("");
        let render =
            Request { encoding, pix_fmt: option("pix-fmt"), ..Request::new(input, path.as_os_str()) };
        let format = target(&render, &output, &native).map_err(Fault::new)?;
        let bits = |f: &Format| if let Depth::Bits(bits) = f.depth { Some(bits) } else { None };
        Ok(json!({
            "encoder": encoder(path.as_os_str(), &format, &render.encoding),
            "format": format.name(),
            "width": format.width,
            "height": format.height,
            "bits": bits(&format),
            "lostBits": bits(&native).zip(bits(&format)).is_some_and(|(from, to)| to < from),
            "lostChroma": format.subsampling.0 > native.subsampling.0 || format.subsampling.1 > native.subsampling.1,
            "exists": match output.files() {
                Files::Many(pattern) => pattern.scan().is_ok_and(|there| !there.is_empty()),
                Files::One(file, _) => file.exists() || segments::folder(&file).exists(),
                _ => path.exists(),
            },
            "path": studio.roots.first().join(&path).to_string_lossy(),
        }))
    })
    .await
}
