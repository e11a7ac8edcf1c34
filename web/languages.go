package web

import (
	"cmp"
	"regexp"
	"strings"
)

// languageNames holds the English names of languages, as Unicode's CLDR has them.
var languageNames = map[string]string{
	"af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian", "bg": "Bulgarian",
	"bn": "Bengali", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German",
	"el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
	"fi": "Finnish", "fil": "Filipino", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati", "he": "Hebrew",
	"hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic",
	"it": "Italian", "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean",
	"la": "Latin", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian",
	"mr": "Marathi", "ms": "Malay", "my": "Burmese", "nb": "Norwegian Bokmål", "ne": "Nepali", "nl": "Dutch",
	"nn": "Norwegian Nynorsk", "no": "Norwegian", "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
	"ru": "Russian", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian", "sv": "Swedish",
	"sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu",
	"uz": "Uzbek", "vi": "Vietnamese", "zh": "Chinese",
}

// maxTag bounds the length of a language tag (RFC 5646 section 4.4.1).
const maxTag = 35

var tagForm = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

// isLanguageTag reports whether a parameter has the form of a language tag.
func isLanguageTag(s string) bool { return len(s) <= maxTag && tagForm.MatchString(s) }

// languageName returns the name of a language, or its tag if the name is unknown.
func languageName(tag string) string {
	base, _, _ := strings.Cut(tag, "-")
	return cmp.Or(languageNames[base], clean(tag, maxTag))
}

// languageAndTag returns the name of a language with its tag after it, or the tag alone if the name
// is unknown.
func languageAndTag(tag string) string {
	name, tag := languageName(tag), clean(tag, maxTag)
	if name == tag {
		return tag
	}
	return name + " (" + tag + ")"
}
