//! The output of a render before it starts: the encoder and the sample format.

use super::error_response::{ErrorResponse, Json};
use super::fault::Fault;
use super::jobs;
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

/// The encoding that a page asks for.
fn encoding(options: &BTreeMap<String, String>) -> Result<Encoding, Fault> {
    jobs::check_options(options)?;
    let option = |name: &str| options.get(name).cloned();
    let pair = option("codec-opt");
    let pair = pair.as_deref().and_then(|text| text.split_once('='));
    Ok(Encoding {
        codec: option("codec"),
        options: pair.map(|(k, v)| (k.into(), v.into())).into_iter().collect(),
        crf: option("crf").and_then(|text| text.parse().ok()),
        preset: option("preset"),
        ..Encoding::default()
    })
}

#[derive(Deserialize)]
pub(super) struct EstimateRequest {
    #[serde(flatten)]
    render: OutputRequest,
    /// The frames to render, of which those in the middle are.
    first: i64,
    count: u64,
}

/// Renders a few frames as the output into a temporary folder, and returns the size that all would have, without sound. The
/// first picture of a video is larger than those that follow: two lengths tell them apart.
pub(super) async fn estimate(State(studio): Shared, Json(request): Json<EstimateRequest>) -> Answer {
    answer(&studio, move |studio, cancel| {
        let EstimateRequest { render: OutputRequest { clip, key, output, options }, first, count } = request;
        let path = studio.roots.within(&output)?;
        let recipe = studio.known(u128::from_str_radix(&key, 16).map_err(Fault::new)?)?;
        let clip = studio.clips.ready(clip, i64::MAX, cancel)?;
        let encoding = encoding(&options)?;
        let size = |frames: u64| -> Result<u64, ErrorResponse> {
            let folder = tempfile::tempdir().map_err(Fault::new)?;
            let name = path.file_name().ok_or_else(|| Fault::new("the file name is missing"))?;
            let from = first + i64::try_from(count.saturating_sub(frames) / 2).unwrap_or(0);
            let to = from.saturating_add_unsigned(frames - 1);
            let render = clip.render(&recipe).frames(from..=to).to(folder.path().join(name));
            let render = render.with(|request| {
                (request.encoding, request.pix_fmt) = (encoding.clone(), options.get("pix-fmt").cloned());
                request.cancel = cancel.clone();
            });
            render.run(|_| {}).map_err(Fault::from)?;
            let files = std::fs::read_dir(folder.path()).map_err(Fault::new)?;
            Ok(files.flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum())
        };
        let few = count.clamp(1, 12);
        let more = count.clamp(1, 36);
        let (small, large) = (size(few)?, if more > few { size(more)? } else { 0 });
        let each = large.saturating_sub(small) as f64 / (more - few).max(1) as f64;
        let all = small as f64 + each * count.saturating_sub(few) as f64;
        Ok(json!({ "bytes": all.round(), "frames": more }))
    })
    .await
}

pub(super) async fn resolve(State(studio): Shared, Json(request): Json<OutputRequest>) -> Answer {
    answer(&studio, move |studio, cancel| {
        let path = studio.roots.within(&request.output)?;
        let key = u128::from_str_radix(&request.key, 16).map_err(Fault::new)?;
        let recipe = studio.known(key)?;
        let (native, _) = studio.clip(request.clip)?.check(&recipe, cancel).map_err(Fault::from)?;
        let encoding = encoding(&request.options)?;
        let option = |name: &str| request.options.get(name).cloned();
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
