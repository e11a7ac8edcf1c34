package page

import (
	"strings"
	"testing"
)

// lanternNames are what a page about a programming library begins with. They look French.
const lanternNames = `LanternConnection: Lantern Reference Manual. Functions lantern_connection_set_certificate lantern_connection_get_certificate
lantern_connection_set_database lantern_connection_get_database lantern_connection_set_interaction lantern_connection_get_interaction
lantern_connection_get_negotiated_protocol lantern_connection_emit_accept_certificate Properties database interaction certificate
negotiation mode Signals accept certificate Object Hierarchy LanternObject LanternConnection Known Derived Interfaces LanternClientConnection
LanternServerConnection `

func TestConfirm(t *testing.T) {
	names := strings.Repeat(lanternNames, 3)
	if lang, reliable := detect(cutText(names, maxDetectBytes)); !reliable || lang.Iso6391() != "fr" {
		t.Fatalf("these names do not look French any more (%s, %v): the test tries nothing", lang.Iso6391(), reliable)
	}
	for name, tc := range map[string]struct{ text, want string }{
		"names alone": {names, ""},
		"names, then English sentences": {names + strings.Repeat(`This function returns the certificate that was set when the lamp was lit, and
			that should be checked with the one from which the connection began. `, 2), "en"},
		"names, then German sentences": {names + strings.Repeat(`Diese Funktion gibt das Zertifikat zurück, und wenn die Lampe nicht brennt,
			wird eine Meldung für den Wärter ausgegeben, die auch sie nicht löscht. `, 3), "de"},
		"names, then few English sentences": {names + "This function returns the lamp.", ""},
		"names, then French sentences":      {names + `Cette fonction rend le certificat qui est dans la lampe, avec les clés du gardien.`, "fr"},
		"names, then Japanese":              {names + strings.Repeat("灯台のランプは夜になると点灯し、the with 朝になると消灯します。", 60), ""},
		"French sentences": {`Le gardien du phare allume la lampe chaque soir, et les marins qui passent au large la voient de très loin,
			même quand il pleut. Il ne dort pas avant minuit.`, "fr"},
		"Italian sentences": {`Il guardiano del faro accende la lampada ogni sera, e i marinai che passano al largo la vedono da molto lontano,
			anche quando piove. Non dorme mai prima di mezzanotte.`, "it"},
		"a language without a list": {`Strážce majáku každý večer rozsvítí lampu a námořníci ji vidí zdaleka, i když prší a fouká silný vítr.`, "cs"},
		"English with French names": {`The keeper of the lighthouse, who was born in Les Sables, would light the lamp when the evening came, and this he did
			with a match from the box on the table.`, "en"},
	} {
		if got := detectLanguage(tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
