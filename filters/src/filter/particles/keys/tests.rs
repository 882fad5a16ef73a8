//! Keys, values and layers.

use super::super::{Preset, presets};
use super::*;
use crate::settings::Word;

#[test]
fn every_layer_is_what_its_keys_say() {
    for name in super::super::tests::names() {
        for layer in presets::preset(Preset::of_word(name).unwrap()).layers {
            let mut draft = Draft::default();
            for (key, item) in said(&layer) {
                draft.put(key, item).unwrap_or_else(|e| panic!("{name}: {}: {e}", key.id));
            }
            assert_eq!(draft.finish(), Ok(layer), "{name}");
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let of = |given: &[(&str, Item)]| {
        let mut draft = Draft::default();
        given.iter().for_each(|(id, item)| draft.put(find(id).unwrap(), item.clone()).unwrap());
        draft.finish().map_err(|(id, wrong)| (id, wrong.to_string()))
    };
    let one = Item::Number(1.0);
    assert_eq!(of(&[]), Ok(Layer::default()));
    for (given, id) in [
        (vec![("rate", one.clone()), ("every", one.clone())], "every"),
        (vec![("count", one.clone())], "count"),
        (vec![("x", Item::Numbers(vec![0.0, 1.0]))], "x"),
        (vec![("hole", Item::Number(0.5))], "hole"),
        (vec![("shape", Item::Word("polygon"))], "shape"),
        (vec![("depth", Item::Numbers(vec![2.0, 1.0]))], "depth"),
    ] {
        assert_eq!(of(&given).map_err(|e| e.0), Err(id));
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let life = find("life").unwrap().takes;
    assert_eq!(life.check(&Item::Spread(Spread::between(0.001, 10_000.0))), Ok(()));
    let low = life.check(&Item::Spread(Spread::between(-1.0, 2.0))).unwrap_err();
    assert_eq!(low.to_string(), "-1 is not from 0.001 to 10000");
    assert!(life.check(&Item::Spread(Spread::fixed(f32::NAN))).is_err());
    for endless in [f32::INFINITY, f32::NEG_INFINITY] {
        assert!(life.check(&Item::Spread(Spread::fixed(endless))).is_err());
        assert!(life.check(&Item::Spread(Spread { base: 1.0, offset: endless })).is_err());
    }
    assert!(find("drag").unwrap().takes.check(&Item::Number(f64::INFINITY)).is_err());
    assert_eq!(life.check(&Item::Number(1.0)), Err(Wrong::Kind));
    let over = Takes::Over { max: 1.0 };
    assert_eq!(over.check(&Item::Points(vec![])), Err(Wrong::Count(0, 1, 32)));
    assert_eq!(over.check(&Item::Points(vec![[0.5, 1.0], [0.5, 1.0]])), Err(Wrong::Order));
    assert!(over.check(&Item::Points(vec![[0.0, f64::NAN]])).is_err());
}
