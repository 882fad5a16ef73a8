//! Colour description, in the code points of ITU-T H.273 where it has them.

/// Whether samples use all codes or the video range (16 to 235 of 255 for luma, 16 to 240 for chroma).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ColorRange {
    /// Unspecified: RGB is full, everything else limited.
    #[default]
    Unspecified,
    /// Limited (video) range.
    Limited,
    /// Full range.
    Full,
}

impl ColorRange {
    /// The range in words.
    pub fn name(self) -> &'static str {
        match self {
            ColorRange::Unspecified => "unspecified",
            ColorRange::Limited => "limited",
            ColorRange::Full => "full",
        }
    }
}

macro_rules! code_points {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $id:ident = $code:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(pub u8);

        impl $name {
            $($(#[$doc])* pub const $id: $name = $name($code);)*
            /// Unspecified.
            pub const UNSPECIFIED: $name = $name(2);

            /// FFmpeg's name of this code point, if it has one.
            pub fn name(self) -> Option<&'static str> {
                match self.0 { 2 => Some("unspecified"), $($code => Some($text),)* _ => None }
            }

            /// The code point of FFmpeg's name.
            pub fn from_name(name: &str) -> Option<$name> {
                match name { "unspecified" | "unknown" => Some($name(2)), $($text => Some($name($code)),)* _ => None }
            }
        }

        impl Default for $name {
            fn default() -> $name { $name::UNSPECIFIED }
        }
    };
}

code_points! {
    /// Conversion from RGB to luma and chroma (H.273 MatrixCoefficients).
    Matrix {
        /// RGB itself.
        RGB = 0, "gbr";
        /// BT.709 (HD).
        BT709 = 1, "bt709";
        /// FCC 73.682.
        FCC = 4, "fcc";
        /// BT.470 B/G: BT.601 for 625 lines.
        BT470BG = 5, "bt470bg";
        /// SMPTE 170M: BT.601 for 525 lines.
        SMPTE170M = 6, "smpte170m";
        /// SMPTE 240M.
        SMPTE240M = 7, "smpte240m";
        /// YCgCo.
        YCGCO = 8, "ycgco";
        /// BT.2020 with non-constant luminance.
        BT2020NC = 9, "bt2020nc";
        /// BT.2020 with constant luminance.
        BT2020C = 10, "bt2020c";
        /// SMPTE ST 2085.
        SMPTE2085 = 11, "smpte2085";
        /// Derived from the primaries, non-constant luminance.
        CHROMA_DERIVED_NC = 12, "chroma-derived-nc";
        /// Derived from the primaries, constant luminance.
        CHROMA_DERIVED_C = 13, "chroma-derived-c";
        /// ICtCp.
        ICTCP = 14, "ictcp";
    }
}

impl Matrix {
    /// The matrix of Y, U and V without a tag: BT.601 (as SMPTE 170M) up to 576 rows, which is standard definition, and
    /// BT.709 above. RGB without a given matrix is converted with it too, so that pictures survive files without tags.
    pub const fn assumed(height: u32) -> Matrix {
        if height <= 576 { Matrix::SMPTE170M } else { Matrix::BT709 }
    }
}

code_points! {
    /// Colour primaries (H.273 ColourPrimaries).
    Primaries {
        /// BT.709 and sRGB.
        BT709 = 1, "bt709";
        /// BT.470 M.
        BT470M = 4, "bt470m";
        /// BT.470 B/G.
        BT470BG = 5, "bt470bg";
        /// SMPTE 170M.
        SMPTE170M = 6, "smpte170m";
        /// SMPTE 240M.
        SMPTE240M = 7, "smpte240m";
        /// Generic film.
        FILM = 8, "film";
        /// BT.2020.
        BT2020 = 9, "bt2020";
        /// CIE XYZ.
        SMPTE428 = 10, "smpte428";
        /// DCI P3.
        SMPTE431 = 11, "smpte431";
        /// Display P3.
        SMPTE432 = 12, "smpte432";
        /// EBU 3213.
        EBU3213 = 22, "ebu3213";
    }
}

code_points! {
    /// Transfer characteristic (H.273 TransferCharacteristics).
    Transfer {
        /// BT.709.
        BT709 = 1, "bt709";
        /// Gamma 2.2.
        GAMMA22 = 4, "gamma22";
        /// Gamma 2.8.
        GAMMA28 = 5, "gamma28";
        /// SMPTE 170M.
        SMPTE170M = 6, "smpte170m";
        /// SMPTE 240M.
        SMPTE240M = 7, "smpte240m";
        /// Scene or display linear light.
        LINEAR = 8, "linear";
        /// Logarithmic, 100:1.
        LOG100 = 9, "log100";
        /// Logarithmic, 316:1.
        LOG316 = 10, "log316";
        /// IEC 61966-2-4.
        IEC61966_2_4 = 11, "iec61966-2-4";
        /// BT.1361.
        BT1361E = 12, "bt1361e";
        /// sRGB.
        SRGB = 13, "iec61966-2-1";
        /// BT.2020, 10 bits.
        BT2020_10 = 14, "bt2020-10";
        /// BT.2020, 12 bits.
        BT2020_12 = 15, "bt2020-12";
        /// PQ.
        PQ = 16, "smpte2084";
        /// SMPTE ST 428.
        SMPTE428 = 17, "smpte428";
        /// HLG.
        HLG = 18, "arib-std-b67";
        /// Printing density of film, logarithmic (DPX, Cineon). Neither H.273 nor FFmpeg has a code for it.
        DENSITY = 255, "density";
    }
}

/// Order of a frame's fields in time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FieldOrder {
    /// Unspecified; treated as progressive.
    #[default]
    Unspecified,
    /// All lines at the same time.
    Progressive,
    /// The field of even lines (0, 2, ...) comes first.
    TopFirst,
    /// The field of odd lines comes first.
    BottomFirst,
    /// The order changes from frame to frame.
    Mixed,
}

impl FieldOrder {
    /// The order in words.
    pub fn name(self) -> &'static str {
        match self {
            FieldOrder::Unspecified => "unspecified",
            FieldOrder::Progressive => "progressive",
            FieldOrder::TopFirst => "top field first",
            FieldOrder::BottomFirst => "bottom field first",
            FieldOrder::Mixed => "mixed",
        }
    }
}
