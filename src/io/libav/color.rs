//! Colour tags: H.273 code points in both libraries, with few exceptions, so that only types are converted.

use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{ColorRange, FieldOrder, Format, Matrix, Primaries, Siting, Transfer};

/// Converts colour tags from and to libav's enums, whose values are those of H.273. What libav has no value for (the
/// transfer of printing density, the siting of PAL DV) becomes unspecified.
pub trait Tag<Av> {
    /// From libav's value.
    fn from_av(av: Av) -> Self;
    /// To libav's value.
    fn to_av(self) -> Av;
}

/// Gives a picture the colour tags of a format.
pub(crate) fn tag(picture: &mut sys::AVFrame, format: &Format) {
    picture.color_range = format.range.to_av();
    picture.colorspace = format.matrix.to_av();
    picture.color_primaries = format.primaries.to_av();
    picture.color_trc = format.transfer.to_av();
    picture.chroma_location = format.siting.to_av();
}

macro_rules! code_point {
    ($ours:ident, $av:ident, $unspecified:ident, [$($code:literal = $name:ident),* $(,)?]) => {
        impl Tag<sys::$av> for $ours {
            fn from_av(av: sys::$av) -> $ours {
                $ours(av as u32 as u8)
            }
            fn to_av(self) -> sys::$av {
                match self.0 {
                    $($code => sys::$av::$name,)*
                    _ => sys::$av::$unspecified,
                }
            }
        }
    };
}

code_point!(
    Matrix,
    AVColorSpace,
    AVCOL_SPC_UNSPECIFIED,
    [
        0 = AVCOL_SPC_RGB,
        1 = AVCOL_SPC_BT709,
        4 = AVCOL_SPC_FCC,
        5 = AVCOL_SPC_BT470BG,
        6 = AVCOL_SPC_SMPTE170M,
        7 = AVCOL_SPC_SMPTE240M,
        8 = AVCOL_SPC_YCGCO,
        9 = AVCOL_SPC_BT2020_NCL,
        10 = AVCOL_SPC_BT2020_CL,
        11 = AVCOL_SPC_SMPTE2085,
        12 = AVCOL_SPC_CHROMA_DERIVED_NCL,
        13 = AVCOL_SPC_CHROMA_DERIVED_CL,
        14 = AVCOL_SPC_ICTCP,
    ]
);
code_point!(
    Primaries,
    AVColorPrimaries,
    AVCOL_PRI_UNSPECIFIED,
    [
        1 = AVCOL_PRI_BT709,
        4 = AVCOL_PRI_BT470M,
        5 = AVCOL_PRI_BT470BG,
        6 = AVCOL_PRI_SMPTE170M,
        7 = AVCOL_PRI_SMPTE240M,
        8 = AVCOL_PRI_FILM,
        9 = AVCOL_PRI_BT2020,
        10 = AVCOL_PRI_SMPTE428,
        11 = AVCOL_PRI_SMPTE431,
        12 = AVCOL_PRI_SMPTE432,
        22 = AVCOL_PRI_EBU3213,
    ]
);
code_point!(
    Transfer,
    AVColorTransferCharacteristic,
    AVCOL_TRC_UNSPECIFIED,
    [
        1 = AVCOL_TRC_BT709,
        4 = AVCOL_TRC_GAMMA22,
        5 = AVCOL_TRC_GAMMA28,
        6 = AVCOL_TRC_SMPTE170M,
        7 = AVCOL_TRC_SMPTE240M,
        8 = AVCOL_TRC_LINEAR,
        9 = AVCOL_TRC_LOG,
        10 = AVCOL_TRC_LOG_SQRT,
        11 = AVCOL_TRC_IEC61966_2_4,
        12 = AVCOL_TRC_BT1361_ECG,
        13 = AVCOL_TRC_IEC61966_2_1,
        14 = AVCOL_TRC_BT2020_10,
        15 = AVCOL_TRC_BT2020_12,
        16 = AVCOL_TRC_SMPTE2084,
        17 = AVCOL_TRC_SMPTE428,
        18 = AVCOL_TRC_ARIB_STD_B67,
    ]
);

macro_rules! pairs {
    ($ours:ident, $av:ident, $other:expr, $unspecified:ident, [$($mine:ident = $name:ident),* $(,)?]) => {
        impl Tag<sys::$av> for $ours {
            fn from_av(av: sys::$av) -> $ours {
                match av { $(sys::$av::$name => $ours::$mine,)* _ => $other }
            }
            #[allow(unreachable_patterns)] // some code points share one of libav's values
            fn to_av(self) -> sys::$av {
                match self { $($ours::$mine => sys::$av::$name,)* _ => sys::$av::$unspecified }
            }
        }
    };
}

pairs!(
    ColorRange,
    AVColorRange,
    ColorRange::Unspecified,
    AVCOL_RANGE_UNSPECIFIED,
    [Limited = AVCOL_RANGE_MPEG, Full = AVCOL_RANGE_JPEG,]
);
pairs!(
    Siting,
    AVChromaLocation,
    Siting::Unspecified,
    AVCHROMA_LOC_UNSPECIFIED,
    [
        Left = AVCHROMA_LOC_LEFT,
        Center = AVCHROMA_LOC_CENTER,
        TopLeft = AVCHROMA_LOC_TOPLEFT,
        Top = AVCHROMA_LOC_TOP,
        BottomLeft = AVCHROMA_LOC_BOTTOMLEFT,
        Bottom = AVCHROMA_LOC_BOTTOM,
    ]
);
pairs!(
    FieldOrder,
    AVFieldOrder,
    FieldOrder::Unspecified,
    AV_FIELD_UNKNOWN,
    [
        Progressive = AV_FIELD_PROGRESSIVE,
        TopFirst = AV_FIELD_TT,
        BottomFirst = AV_FIELD_BB,
        TopFirst = AV_FIELD_BT,
        BottomFirst = AV_FIELD_TB,
    ]
);
