//! What a picture carries and a file of another kind cannot hold.

use super::{Kind, Meta, Unit, fitting_icc, png, says_orientation, tags};
use grainfield_filters::frame::{Depth, Format, Transfer};

/// What of `meta` is lost in a video, in a few words each: the picture is turned upright, and has no length on paper.
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
    list
}

/// What of a file is lost as it is read.
fn not_read(meta: &Meta) -> Vec<String> {
    let cmyk = meta.cmyk.then(|| "CMYK (it becomes RGB without a profile)".into());
    let more = meta.more.then(|| "all pictures but the first".into());
    cmyk.into_iter().chain(more).collect()
}

/// The colour tags that are lost where a file has no place for them, but for those whose colours are near to what a
/// reader takes who is told nothing.
pub fn lost_color(format: &Format) -> Option<String> {
    // H.273: BT.709, unspecified, and the two of standard definition
    let primaries = !matches!(format.primaries.0, 1 | 2 | 5 | 6);
    let far = [Transfer::PQ, Transfer::HLG, Transfer::GAMMA28];
    // light itself is what float pictures hold by custom
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

/// What of `meta` is lost in a file of this kind with pictures of this format, in a few words each.
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
    // one sample to one without a length says nothing, and what scanners write into their headers is told with these
    let said = meta.density.filter(|d| d.unit != Unit::None || d.x != d.y);
    if let Some(d) = said.filter(|_| !dense && meta.cineon.is_none()) {
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
        (Some(dpx), _) if kind == Kind::Dpx => list.extend(dpx.lost()),
        (_, Some(_)) if kind == Kind::Cineon => {}
        _ => list.extend(meta.fields.iter().cloned()),
    }
    list
}
