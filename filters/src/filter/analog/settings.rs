//! The settings and presets.

use super::system::{Comb, Connection, System, Tape};
use crate::settings::{Animated, Unit};
use crate::{choices, settings};

settings! {
    pub(super) struct AnalogSpec {
        /// The colour television system.
        system: System = choice("ntsc").group("Signal"),
        /// How the picture gets to the tape or, without one, to the screen.
        connection: Connection = choice("composite").group("Signal"),
        /// How the receiver parts luma from chroma, for connection=composite.
        comb: Comb = choice("notch").group("Signal"),
        /// Whether a progressive frame is sent as two fields, each with noise, jitter and events of its own. Movement
        /// between the fields is not invented. An interlaced source always is two fields.
        interlace: bool = switch().default(true).group("Signal"),
        /// Visible lines of a frame: 240 and interlace=false for an old game. 0 is the number of the system; a picture
        /// with fewer rows keeps its own.
        lines: i64 = integer(0..=1080).default(0).group("Signal"),
        /// Standard deviation of the noise of the connection, in 8-bit code values: bad reception.
        snow: Animated = number(0.0..=255.0).default(0.0).unit(Unit::Code8).soft(0.0..=40.0).group("Signal"),
        /// Strength of an echo from the aerial, to the right of the picture.
        ghost: Animated = number(-1.0..=1.0).default(0.0).soft(0.0..=0.3).group("Signal"),
        /// Wrong phase of the colour in degrees: NTSC becomes greener or more purple, PAL paler; SECAM is not affected.
        hue: Animated = number(-180.0..=180.0).default(0.0).soft(-30.0..=30.0).group("Signal"),
        /// Amplitude of the colour.
        saturation: Animated = number(0.0..=4.0).default(1.0).soft(0.0..=2.0).group("Signal"),
        /// The tape format. With none, the settings of the tape have no effect.
        tape: Tape = choice("vhs-sp").group("Tape"),
        /// Number of copies, each made from the one before.
        generations: i64 = integer(1..=8).default(1).group("Tape"),
        /// Noise of luma: 1 is usual for the format.
        noise: Animated = number(0.0..=10.0).default(1.0).soft(0.0..=4.0).group("Tape"),
        /// Noise of chroma, likewise, with errors of its phase from line to line.
        chroma_noise as "chroma-noise": Animated = number(0.0..=10.0).default(1.0).soft(0.0..=4.0).group("Tape"),
        /// How far each copy moves the colours to the right, in samples of a picture 1920 wide.
        chroma_delay as "chroma-delay": Animated =
            number(-64.0..=64.0).default(5.0).unit(Unit::Pixels).soft(-16.0..=16.0).group("Tape"),
        /// Peaking by the player, with bright and dark lines along edges.
        sharpen: Animated = number(0.0..=4.0).default(0.6).soft(0.0..=2.0).group("Tape"),
        /// Standard deviation of the lines' horizontal positions, in samples of a picture 1920 wide.
        jitter: Animated =
            number(0.0..=64.0).default(1.0).unit(Unit::Pixels).soft(0.0..=10.0).group("Time base"),
        /// Slow waves of vertical edges, and a bend at the top, likewise.
        edge_wave as "edge-wave": Animated =
            number(0.0..=200.0).default(2.0).unit(Unit::Pixels).soft(0.0..=30.0).group("Time base"),
        /// Lines of a field, of 240, that the switch of the heads spoils at the bottom. A few lie below what a television
        /// showed, but not below what is digitised.
        head_switching as "head-switching": Animated = number(0.0..=60.0).default(6.0).soft(0.0..=20.0).group("Events"),
        /// How far the heads are off their track: bands of noise.
        tracking: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Events"),
        /// Vertical position of the band: 0 is the top, 1 the bottom.
        tracking_position as "tracking-position": Animated =
            number(-1.0..=2.0).default(0.8).unit(Unit::Fraction).soft(0.0..=1.0).group("Events"),
        /// Movement of the band in heights of the picture per frame; it comes in again on the other side.
        tracking_drift as "tracking-drift": Animated = number(-1.0..=1.0).default(0.0).soft(-0.05..=0.05).group("Events"),
        /// Average number of dropouts per frame: bright or dark streaks with a tail.
        dropouts: Animated = number(0.0..=1000.0).default(1.5).soft(0.0..=40.0).group("Events"),
        /// Depth of a crease along the tape, which shows as a torn line.
        crease: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Events"),
        /// Vertical position of the crease.
        crease_position as "crease-position": Animated =
            number(-1.0..=2.0).default(0.6).unit(Unit::Fraction).soft(0.0..=1.0).group("Events"),
        /// Strength of the picture tube.
        crt: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Screen"),
        /// The mask of the tube.
        tube_mask as "tube-mask": Mask = choice("aperture").group("Screen"),
        /// Width of a red, green and blue triple of the mask in samples of a picture 1920 wide; three of the output's are
        /// the least.
        mask_size as "mask-size": f64 = fixed(1.0..=64.0).default(4.0).unit(Unit::Pixels).group("Screen"),
        /// Depth of the gaps between lines.
        scanlines: Animated = number(0.0..=1.0).default(0.6).unit(Unit::Fraction).group("Screen"),
        /// Light that the glass spreads around bright areas.
        bloom: Animated = number(0.0..=1.0).default(0.3).unit(Unit::Fraction).group("Screen"),
        /// Curvature of the glass: 1 is that of a very round tube.
        curvature: Animated = number(0.0..=1.0).default(0.2).unit(Unit::Fraction).group("Screen"),
    }
    presets "Sets several settings at once. A setting that you give overrides the preset." {
        /// a programme recorded at home: the defaults, with paler colours
        "vhs-home-1988" = "tape=vhs-sp:saturation=0.85",
        /// a cassette recorded at a third of the speed and played too often
        "vhs-ep-worn" = "tape=vhs-ep:saturation=0.75:generations=2:jitter=1.8:edge-wave=5:head-switching=9:tracking=0.45:tracking-position=0.85:tracking-drift=-0.004:dropouts=10:chroma-delay=6:sharpen=0.5",
        /// a programme through an aerial: dots and rainbows, a little snow, a faint ghost
        "broadcast-1985" = "tape=none:snow=4:ghost=-0.07:hue=4:saturation=0.9",
        /// a report on Betacam
        "betacam-news" = "tape=betacam:connection=component:generations=2:saturation=0.88:noise=1.5:chroma-noise=2:sharpen=0.9:jitter=0.2:edge-wave=0:head-switching=0:dropouts=0.1:chroma-delay=0",
        /// a rented cassette in PAL
        "pal-rental" = "system=pal:tape=vhs-sp:saturation=0.8:generations=2:noise=0.8:dropouts=4:tracking=0.12:tracking-position=0.95:jitter=0.8",
        /// SECAM through an aerial
        "secam" = "system=secam:tape=none:snow=3",
        /// a camera in a shop, in black and white, on a cassette used every day
        "security-camera" = "tape=vhs-ep:connection=svideo:lines=240:interlace=false:saturation=0:chroma-noise=0.3:noise=1.6:sharpen=1.2:jitter=1.2:tracking=0.25:tracking-position=0.1:tracking-drift=0.006:dropouts=2:head-switching=8",
        /// the screen of an arcade game
        "crt-arcade" = "tape=none:connection=component:lines=240:interlace=false:crt=1:tube-mask=slot:scanlines=0.85:bloom=0.25:curvature=0.25",
    }
    with seed
}

choices! {
    /// The masks of picture tubes.
    pub(super) enum Mask {
        /// none
        None = "none",
        /// upright stripes (Trinitron)
        Aperture = "aperture",
        /// stripes cut into bricks (televisions, arcades)
        Slot = "slot",
        /// dots in triangles (monitors)
        Shadow = "shadow",
    }
}
