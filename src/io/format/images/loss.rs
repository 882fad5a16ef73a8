//! Properties of a picture that a file of another kind cannot hold.

use super::{Kind, Meta, Unit, dpx, fitting_icc, png, says_orientation, tags};
use grainfield_filters::frame::{Depth, Format, Transfer};

/// The properties in `meta` that a video loses, in a few words each: pictures are turned upright, and have no
/// physical size.
pub fn lost_in_video(meta: &Meta) -> Vec<String> {
    let mut list = not_read(meta);
    list.extend(meta.icc.is_some().then(|| "the colour profile".into()));
    let exif = meta.exif.as_ref().filter(|data| !tags::is_orientation_alone(data));
    list.extend(exif.map(|_| "Exif".into()));
    list.extend(meta.png.iter().flat_map(|png| png::colors_lost(png)));
    list.extend(meta.png.as_ref().and_then(|png| texts(png)));
    list.extend(meta.exr_names.iter().flat_map(|names| names.lost(None)));
    list.extend(meta.tiff.iter().flat_map(|tiff| tiff.lost(false)));
    list.extend(meta.fields.iter().cloned());
    // the rate of the frames
    list.retain(|name| {
        meta.rate.is_none() || !["frame rate of the scan", "the frames a second"].contains(&&**name)
    });
    list
}

/// The properties of a file that are not read.
fn not_read(meta: &Meta) -> Vec<String> {
    let cmyk = meta.cmyk.then(|| "CMYK (it becomes RGB without a profile)".into());
    let more = meta.more.then(|| "all pictures but the first".into());
    cmyk.into_iter().chain(more).collect()
}

/// The colour tags that a file without them loses, except for those similar to the default of readers.
pub fn lost_color(format: &Format) -> Option<String> {
    // H.273: BT.709, unspecified, and the two of standard definition
    let primaries = !matches!(format.primaries.0, 1 | 2 | 5 | 6);
    let far = [Transfer::PQ, Transfer::HLG, Transfer::GAMMA28];
    // float pictures hold linear light by convention
    let linear = format.transfer == Transfer::LINEAR && format.depth != Depth::Float;
    let transfer = linear || far.contains(&format.transfer);
    let lost = [primaries.then_some("primaries"), transfer.then_some("transfer")];
    let lost: Vec<&str> = lost.into_iter().flatten().collect();
    (!lost.is_empty()).then(|| format!("colour tags ({})", lost.join(", ")))
}

/// The texts of a PNG.
fn texts(png: &::png::Info<'_>) -> Option<String> {
    let texts = png.uncompressed_latin1_text.iter().map(|t| &t.keyword);
    let texts = texts.chain(png.compressed_latin1_text.iter().map(|t| &t.keyword));
    let texts: Vec<&str> =
        texts.chain(png.utf8_text.iter().map(|t| &t.keyword)).map(String::as_str).collect();
    (!texts.is_empty()).then(|| format!("texts ({})", texts.join(", ")))
}

/// The properties in `meta` that a file of this kind with pictures of this format loses, in a few words each.
pub fn lost(kind: Kind, meta: &Meta, format: &Format) -> Vec<String> {
    let mut list = not_read(meta);
    let profiled = matches!(kind, Kind::Png | Kind::Tiff | Kind::Jpeg | Kind::Webp);
    if meta.icc.is_some() && !(profiled && fitting_icc(Some(meta), format).is_some()) {
        let why = if profiled { " (it describes the samples before their conversion)" } else { "" };
        list.push(format!("the colour profile{why}"));
    }
    let exif = matches!(kind, Kind::Png | Kind::Jpeg | Kind::Webp);
    if let Some(data) = meta.exif.as_ref().filter(|_| !exif) {
        let turned = says_orientation(kind, meta);
        match (tags::is_orientation_alone(data), turned) {
            (true, true) => {}
            (false, true) => list.push("Exif data except the orientation".into()),
            (_, false) => list.push("Exif".into()),
        }
    }
    let dense = matches!(kind, Kind::Png | Kind::Tiff | Kind::Jpeg | Kind::Cineon);
    // a ratio of one to one without a unit is meaningless; those in scanner headers are reported with these fields
    let density = meta.density.filter(|d| d.unit != Unit::None || d.x != d.y);
    if let Some(d) = density.filter(|_| !dense && meta.cineon.is_none()) {
        list.push(format!("the resolution ({} by {})", d.x, d.y));
    }
    if let Some(png) = meta.png.as_ref().filter(|_| kind != Kind::Png) {
        list.extend(png::colors_lost(png));
        list.extend(texts(png));
        if png.mastering_display_color_volume.is_some() || png.content_light_level.is_some() {
            list.push("HDR10 data".into());
        }
    }
    if let Some(names) = &meta.exr_names {
        list.extend(names.lost((kind == Kind::Exr).then_some(format)));
    }
    if let Some(tiff) = &meta.tiff {
        list.extend(tiff.lost(kind == Kind::Tiff));
    }
    match (&meta.dpx, &meta.cineon) {
        (Some(header), _) if kind == Kind::Dpx => list.extend(dpx::lost(header)),
        (_, Some(_)) if kind == Kind::Cineon => {}
        _ => list.extend(meta.fields.iter().cloned()),
    }
    list
}
