//! Frames for the page: pixels, codes, scopes, the next cut, and the cost of each filter.

use super::clips::Which;
use super::error_response::{ErrorResponse, Path, Query};
use super::picture::{self, Board, Field, View};
use super::pixels::Rgba;
use super::scopes::{self, Scope};
use super::state::{Answer, Shared, answer, spawn_cancellable};
use super::{plots, scene, times};
use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

/// The clip, the recipe's key in hexadecimal digits, and the frame number.
type Place = Path<(u32, String, i64)>;

fn which(place: (u32, String, i64), is_input: bool) -> Result<Which, ErrorResponse> {
    let (clip, key, number) = place;
    let key = u128::from_str_radix(&key, 16).map_err(|_| {
        ErrorResponse::new(StatusCode::BAD_REQUEST, "a recipe's key has 32 hexadecimal digits")
    })?;
    Ok((clip, if is_input { 0 } else { key }, number))
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    In,
    Out,
    Diff,
}

#[derive(Deserialize)]
pub(super) struct FrameQuery {
    side: Side,
    /// Left, top, width, height.
    region: Option<String>,
    /// Width and height of a reduced view.
    size: Option<String>,
    gain: Option<f64>,
    gamma: Option<f64>,
    plane: Option<usize>,
    field: Option<Field>,
    over: Option<Board>,
    #[serde(default)]
    matte: bool,
    #[serde(default)]
    clipping: bool,
    /// Whether the last key frame before is as good, if it is there sooner.
    #[serde(default)]
    near: bool,
    #[serde(default)]
    quick: bool,
    /// What a difference is from: a clip, a recipe's key and a frame, `CLIP.KEY.NUMBER`. It is the source if this is missing.
    against: Option<String>,
}

/// The frame that a difference is from.
fn against(text: Option<&str>, of: Which) -> Result<Which, ErrorResponse> {
    let Some(text) = text else { return Ok((of.0, 0, of.2)) };
    let mut parts = text.split('.');
    let mut next = || parts.next().unwrap_or_default();
    let (clip, key, number) = (next().parse(), next().to_owned(), next().parse());
    let (Ok(clip), Ok(number)) = (clip, number) else {
        let wrong = format!("'{text}': expected a clip, a recipe's key and a frame");
        return Err(ErrorResponse::new(StatusCode::BAD_REQUEST, wrong));
    };
    which((clip, key, number), false)
}

fn numbers<const N: usize>(text: Option<&str>) -> Result<Option<[usize; N]>, ErrorResponse> {
    let Some(text) = text else { return Ok(None) };
    let all: Result<Vec<usize>, _> = text.split(',').map(str::parse).collect();
    let all = all.ok().and_then(|all| <[usize; N]>::try_from(all).ok());
    all.map(Some).ok_or_else(|| {
        ErrorResponse::new(StatusCode::BAD_REQUEST, format!("'{text}': expected {N} whole numbers"))
    })
}

/// A frame as pixels of four bytes; a header has its number.
pub(super) async fn frame(
    State(studio): Shared,
    Path(place): Place,
    Query(query): Query<FrameQuery>,
) -> Answer {
    let view = View {
        region: numbers(query.region.as_deref())?,
        size: numbers(query.size.as_deref())?,
        gain: query.gain.filter(|g| g.is_finite()).unwrap_or(1.0).clamp(0.0, 4096.0),
        gamma: query.gamma.filter(|g| g.is_finite()).unwrap_or(1.0).clamp(0.1, 10.0),
        plane: query.plane,
        over: query.over,
        matte: query.matte,
        field: query.field,
        clipping: query.clipping,
        quick: query.quick,
    };
    let mut which = which(place, query.side == Side::In)?;
    let mut other = against(query.against.as_deref(), which)?;
    let (shown, number) = spawn_cancellable(&studio, move |studio, cancel| {
        let _room = studio.clips.room(which.0, cancel)?;
        if query.near {
            let soonest = studio.clips.ready(which.0, which.2, cancel)?.soonest(which.2);
            // A still stays.
            if (other.0, other.2) == (which.0, which.2) {
                other.2 = soonest;
            }
            which.2 = soonest;
        }
        let finished = studio.frame(which, cancel)?;
        let shown = match query.side {
            Side::In | Side::Out => picture::show(&finished.frame, &view)?,
            Side::Diff => {
                let from = studio.frame(other, cancel)?;
                picture::difference(&from.frame, &finished.frame, &view)?
            }
        };
        Ok((shown, which.2))
    })
    .await?;
    Ok(pixels_of(shown, number))
}

fn pixels_of(shown: Rgba, number: i64) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (HeaderName::from_static("x-width"), shown.width.to_string()),
        (HeaderName::from_static("x-height"), shown.height.to_string()),
        (HeaderName::from_static("x-number"), number.to_string()),
    ];
    (headers, shown.bytes).into_response()
}

/// The hash of a frame, as `grainfield hash` prints it; with key 0 that of the source's frame.
pub(super) async fn hash(State(studio): Shared, Path(place): Place) -> Answer {
    let which = which(place, false)?;
    answer(&studio, move |studio, cancel| {
        let _room = studio.clips.room(which.0, cancel)?;
        Ok(json!({ "hash": studio.frame(which, cancel)?.hash() }))
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct PixelsQuery {
    side: Side,
    region: String,
}

/// The codes of the samples in a small area of a frame, plane by plane.
pub(super) async fn pixels(
    State(studio): Shared,
    Path(place): Place,
    Query(query): Query<PixelsQuery>,
) -> Answer {
    let which = which(place, query.side == Side::In)?;
    let Some([left, top, width, height]) = numbers::<4>(Some(&query.region))? else {
        return Err(ErrorResponse::new(StatusCode::BAD_REQUEST, "expected a region"));
    };
    answer(&studio, move |studio, cancel| {
        let finished = studio.frame(which, cancel)?;
        let (frame, format) = (&finished.frame, *finished.frame.format());
        let (all_w, all_h) = (format.width as usize, format.height as usize);
        let xs = left.min(all_w)..left.saturating_add(width.min(64)).min(all_w);
        let ys = top.min(all_h)..top.saturating_add(height.min(64)).min(all_h);
        let planes = (0..format.planes()).map(|p| {
            let (sx, sy) = format.plane_subsampling(p);
            let row =
                |y: usize| xs.clone().map(|x| picture::code(frame, p, x >> sx, y >> sy)).collect::<Vec<_>>();
            ys.clone().map(row).collect::<Vec<_>>()
        });
        Ok(json!({
            "format": format.name(),
            "names": grainfield_filters::forms::recipe::plane_names(&format),
            "planes": planes.collect::<Vec<_>>(),
        }))
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct ScopesQuery {
    side: Side,
    scope: Scope,
}

pub(super) async fn scopes(
    State(studio): Shared,
    Path(place): Place,
    Query(query): Query<ScopesQuery>,
) -> Answer {
    let which = which(place, query.side == Side::In)?;
    let number = which.2;
    let drawn = spawn_cancellable(&studio, move |studio, cancel| {
        let _room = studio.clips.room(which.0, cancel)?;
        Ok(scopes::draw(&studio.frame(which, cancel)?.frame, query.scope)?)
    });
    Ok(pixels_of(drawn.await?, number))
}

#[derive(Deserialize)]
pub(super) struct SceneQuery {
    #[serde(default)]
    back: bool,
}

/// The first frame of the next or the previous scene of the input.
pub(super) async fn scene(
    State(studio): Shared,
    Path((clip, number)): Path<(u32, i64)>,
    Query(query): Query<SceneQuery>,
) -> Answer {
    answer(&studio, move |studio, cancel| {
        Ok(json!({ "frame": scene::find(&studio.clips.ready(clip, i64::MAX, cancel)?, number, query.back, cancel)? }))
    })
    .await
}

/// The next or the previous frame at which decoding may begin.
pub(super) async fn key_frame(
    State(studio): Shared,
    Path((clip, number)): Path<(u32, i64)>,
    Query(query): Query<SceneQuery>,
) -> Answer {
    answer(&studio, move |studio, cancel| {
        Ok(json!({ "frame": studio.clips.ready(clip, i64::MAX, cancel)?.key_frame(number, query.back) }))
    })
    .await
}

/// The time that each filter of a recipe adds to a frame, in milliseconds.
pub(super) async fn times(State(studio): Shared, Path(place): Place) -> Answer {
    let (clip, key, number) = which(place, false)?;
    answer(&studio, move |studio, cancel| {
        Ok(json!({ "milliseconds": times::measure(&studio.clips.ready(clip, number, cancel)?, &*studio.known(key)?, number, cancel)? }))
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct PlotQuery {
    side: Side,
    region: Option<String>,
}

/// A plot of measurements in an area of some frames, as a PNG image.
pub(super) async fn plot(
    State(studio): Shared,
    Path(place): Place,
    Query(query): Query<PlotQuery>,
) -> Answer {
    let region = numbers(query.region.as_deref())?;
    let which = which(place, query.side == Side::In)?;
    let png = spawn_cancellable(&studio, move |studio, cancel| {
        let (id, key, number) = which;
        let recipe = if key == 0 { Default::default() } else { studio.known(key)? };
        let clip = studio.clips.ready(id, number, cancel)?;
        let title = match region {
            Some([x, y, w, h]) => format!("{}, {w}x{h} at {x},{y}, from frame {number}", clip.info().name),
            None => format!("{}, from frame {number}", clip.info().name),
        };
        Ok(plots::png(&clip, &recipe, number, region, &title, cancel)?)
    });
    Ok(([(header::CONTENT_TYPE, "image/png")], png.await?).into_response())
}
