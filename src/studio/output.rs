//! The output of a render before it starts: the encoder and the sample format.

use super::api;
use super::error_response::{ErrorResponse, Json};
use super::fault::Fault;
use super::jobs;
use super::state::{Answer, Shared, Studio, answer};
use axum::extract::State;
use grainfield_filters::frame::{Depth, Format};
use grainfield_io::encoding::Encoding;
use grainfield_io::format::{Files, Formats};
use grainfield_io::journal::segments;
use grainfield_io::sink::Output;
use grainfield_io::source;
use grainfield_render::session::job::{NoteCode, Request, target};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

/// A name that is proposed has a smaller number.
const MAX_NUMBER: u32 = 1000;

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

/// What a page asks for beside the input and the output.
fn set(request: &mut Request, options: &BTreeMap<String, String>) -> Result<(), Fault> {
    request.encoding = encoding(options)?;
    request.pix_fmt = options.get("pix-fmt").cloned();
    request.transfer.output =
        options.get("transfer").and_then(|name| jobs::transfer(name)).unwrap_or_default();
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct EstimateRequest {
    #[serde(flatten)]
    render: OutputRequest,
    /// The frames to render, of which those in the middle are.
    first: i64,
    count: u64,
}

/// Renders a few frames as the output into a temporary folder, and returns the size that all would have, without sound, and
/// what the output cannot hold. The first picture of a video is larger than those that follow: two lengths tell them apart.
pub(super) async fn estimate(State(studio): Shared, Json(request): Json<EstimateRequest>) -> Answer {
    answer(&studio, move |studio, cancel| {
        let EstimateRequest { render: OutputRequest { clip, key, output, options }, first, count } = request;
        let path = studio.roots.within(&output)?;
        let recipe = studio.known(u128::from_str_radix(&key, 16).map_err(Fault::new)?)?;
        let clip = studio.clips.ready(clip, i64::MAX, cancel)?;
        let mut wanted = Request::new("", "");
        set(&mut wanted, &options)?;
        let mut losses = Vec::new();
        let mut size = |frames: u64| -> Result<u64, ErrorResponse> {
            let folder = tempfile::tempdir().map_err(Fault::new)?;
            let name = path.file_name().ok_or_else(|| Fault::new("the file name is missing"))?;
            let from = first + i64::try_from(count.saturating_sub(frames) / 2).unwrap_or(0);
            let to = from.saturating_add_unsigned(frames - 1);
            let render = clip.render(&recipe).frames(from..=to).to(folder.path().join(name));
            let render = render.with(|request| {
                (request.encoding, request.pix_fmt) = (wanted.encoding.clone(), wanted.pix_fmt.clone());
                request.transfer.output = wanted.transfer.output;
                request.memory = None; // as much as the job will have
                request.cancel = cancel.clone();
            });
            let job = render.prepare().map_err(Fault::from)?;
            // Alpha and depth are told before a frame is rendered.
            let is_new = |code| !matches!(code, NoteCode::AlphaLost | NoteCode::DepthLost) && code.is_loss();
            let inside = format!("{}/", folder.path().display());
            let told = job.notes().iter().filter(|note| is_new(note.code));
            losses = told.map(|note| note.text.replace(&inside, "")).collect();
            job.run(&|_| {}).map_err(Fault::new)?;
            let files = std::fs::read_dir(folder.path()).map_err(Fault::new)?;
            Ok(files.flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum())
        };
        let few = count.clamp(1, 12);
        let more = count.clamp(1, 36);
        let (small, large) = (size(few)?, if more > few { size(more)? } else { 0 });
        let each = large.saturating_sub(small) as f64 / (more - few).max(1) as f64;
        let all = small as f64 + each * count.saturating_sub(few) as f64;
        Ok(json!({ "bytes": all.round(), "frames": more, "losses": losses }))
    })
    .await
}

/// Whether something of this name exists, or segments of it do.
fn exists(path: &Path) -> Result<bool, Fault> {
    Ok(match Output::parse(path.as_os_str(), Formats::default()).map_err(Fault::new)?.files() {
        Files::Many(pattern) => pattern.scan().is_ok_and(|there| !there.is_empty()),
        Files::One(file, _) => file.exists() || segments::folder(&file).exists(),
        _ => path.exists(),
    })
}

/// The name with a number: before its ending, of numbered images at their folder.
fn numbered(output: &str, n: u32) -> String {
    let file = output.rfind('/').map_or(0, |slash| slash + 1);
    let is_many = file > 0 && output[file..].contains('%');
    let at = if is_many { file - 1 } else { file + output[file..].rfind('.').unwrap_or(output.len() - file) };
    format!("{}-{n}{}", &output[..at], &output[at..])
}

/// The first name with a number that neither a file nor a job has, if one of them has the output's; `None` if none has.
fn free(studio: &Studio, output: &str) -> Result<Option<String>, Fault> {
    let jobs = studio.jobs.rows()?.0;
    let taken = |name: &str| -> Result<bool, Fault> {
        Ok(exists(&studio.roots.within(name)?)? || jobs.iter().any(|job| job.has_output(name)))
    };
    if !taken(output)? {
        return Ok(None);
    }
    let mut names = (2..MAX_NUMBER).map(|n| numbered(output, n));
    names.find_map(|name| taken(&name).map(|taken| (!taken).then_some(name)).transpose()).transpose()
}

pub(super) async fn resolve(State(studio): Shared, Json(request): Json<OutputRequest>) -> Answer {
    answer(&studio, move |studio, cancel| {
        let path = studio.roots.within(&request.output)?;
        let key = u128::from_str_radix(&request.key, 16).map_err(Fault::new)?;
        let recipe = studio.known(key)?;
        let (native, _) = studio.clip(request.clip)?.check(&recipe, cancel).map_err(Fault::from)?;
        let output = Output::parse(path.as_os_str(), Formats::default()).map_err(Fault::new)?;
        let from = studio.clips.opening(request.clip).ok_or_else(|| ErrorResponse::gone("the clip is no longer open"))?;
        let mut access = output.writes(None);
        access.read_all("the input", source::reads(&from.input));
        access.check().map_err(Fault::new)?;
        let mut render = Request::new(OsStr::new(""), path.as_os_str());
        set(&mut render, &request.options)?;
        let format = target(&render, &output, &native).map_err(Fault::new)?;
        let bits = |f: &Format| if let Depth::Bits(bits) = f.depth { Some(bits) } else { None };
        Ok(json!({
            "encoder": encoder(path.as_os_str(), &format, &render.encoding),
            "format": format.name(),
            "colour": api::colour(&format),
            "width": format.width,
            "height": format.height,
            "bits": bits(&format),
            "lostBits": bits(&native).zip(bits(&format)).is_some_and(|(from, to)| to < from),
            "lostChroma": format.subsampling.0 > native.subsampling.0 || format.subsampling.1 > native.subsampling.1,
            "exists": exists(&path)?,
            "free": free(studio, &request.output)?,
            "path": studio.roots.first().join(&path).to_string_lossy(),
        }))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_before_the_ending_or_at_the_folder() {
        for (name, with) in [
            ("a.mp4", "a-2.mp4"),
            ("b.c/a", "b.c/a-2"),
            ("b.c/a.b.mov", "b.c/a.b-2.mov"),
            ("b/c/%06d.png", "b/c-2/%06d.png"),
            ("%06d.png", "%06d-2.png"),
            ("ä", "ä-2"),
        ] {
            assert_eq!(numbered(name, 2), with);
        }
    }
}
