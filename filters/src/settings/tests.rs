//! Tests declarations and the values read from them.

use super::*;

crate::choices! {
    enum Mode {
        /// one
        /// and only
        First = "first",
        /// two
        Second = "second",
    }
}

crate::settings! {
    struct Look {
        /// How much,
        /// in parts.
        amount: Animated = number(0.0..=10.0).default(4.0).unit(Unit::Fraction).soft(0.0..=2.0).step(0.1),
        /// Which.
        mode: Mode = choice("second"),
        /// How far.
        crop_left as "crop-left": Option<f64> = fixed(0.0..=1.0).refused_unless("mode", &["first"]),
    }
    presets "A look." {
        /// much of it
        "strong" = "amount=9:mode=first",
        /// little
        "weak" = "amount=1",
    }
    with seed, static
}

#[test]
fn one_declaration_is_the_table_and_the_struct() {
    let ids: Vec<&str> = Look::TABLE.iter().map(|s| s.id).collect();
    assert_eq!(ids, ["preset", "amount", "mode", "crop-left", "seed", "static"]);
    let [_, amount, mode, crop, ..] = Look::TABLE else { panic!() };
    assert_eq!((amount.help, amount.label().as_str()), ("How much, in parts.", "Amount"));
    assert_eq!((amount.soft, amount.step), (Some((0.0, 2.0)), Some(0.1)));
    assert_eq!((mode.kind, mode.default), (Kind::Choice(Mode::CHOICES), Some(Constant::Choice("second"))));
    assert_eq!((Mode::CHOICES[0].help, crop.label().as_str()), ("one and only", "Crop left"));
    let edge = Setting::new("edge-color", "", Kind::Colour);
    assert_eq!(edge.label(), "Edge colour");
    let plain = Look::read(&Values::new(Look::TABLE));
    assert_eq!((plain.amount.constant(), plain.mode, plain.crop_left), (Some(4.0), Mode::Second, None));
}

#[test]
fn given_values_override_the_preset_and_it_overrides_the_default() {
    let of = |text: &str| Values::parse(Look::TABLE, text).unwrap();
    let all = |text: &str| {
        let Look { amount, mode, crop_left } = Look::read(&of(text));
        (amount.constant().unwrap(), mode, crop_left)
    };
    assert_eq!(all("preset=strong"), (9.0, Mode::First, None));
    assert_eq!(all("preset=weak:crop-left=.25"), (1.0, Mode::Second, Some(0.25)));
    // The order makes no difference, and the last preset applies.
    for text in ["amount=2:preset=strong", "preset=strong:amount=2", "preset=weak:amount=2:preset=strong"] {
        assert_eq!(all(text), (2.0, Mode::First, None));
    }
    let values = of("preset=strong");
    assert_eq!((values.given("amount"), values.get("amount")), (None, Some(&Value::Number(9.0.into()))));
    assert!(of("preset=strong") == of("preset=strong") && of("preset=strong") != of("preset=weak"));
    assert_eq!((of("seed=0x10").seed(), of("static=1").is_static(), of("").seed()), (Some(16), true, None));
}

#[test]
fn meaningless_settings_are_refused() {
    let check = |text: &str| Values::parse(Look::TABLE, text).unwrap().check().map_err(|e| e.setting);
    assert_eq!(check("crop-left=0.5"), Err("crop-left"));
    assert_eq!(check("crop-left=0.5:preset=strong"), Ok(()));
    assert_eq!(check("crop-left=0.5:mode=second:preset=strong"), Err("crop-left"));
    for (text, setting) in
        [("amont=1", ""), ("amount=11", "amount"), ("mode=third", "mode"), ("crop-left", "crop-left")]
    {
        assert_eq!(Values::parse(Look::TABLE, text).map_err(|e| e.setting), Err(setting), "{text}");
    }
}
