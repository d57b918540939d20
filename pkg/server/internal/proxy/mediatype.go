package proxy

import "strings"

// contentType is what a file is by the ending of its name. The list is ours and not the machine's, so that the same
// folder is served alike everywhere; what is not in it is a row of bytes, and never guessed from what is in the file.
func contentType(name string) string {
	ending := ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		ending = strings.ToLower(name[i+1:])
	}
	switch ending {
	case "html", "htm":
		return "text/html; charset=utf-8"
	case "css":
		return "text/css; charset=utf-8"
	case "js", "mjs":
		return "text/javascript; charset=utf-8" // RFC 9239 section 6
	case "txt", "text", "log":
		return "text/plain; charset=utf-8"
	case "md":
		return "text/markdown; charset=utf-8"
	case "csv":
		return "text/csv; charset=utf-8"
	case "ics":
		return "text/calendar; charset=utf-8"
	case "json", "map":
		return "application/json"
	case "webmanifest":
		return "application/manifest+json"
	case "xml":
		return "application/xml"
	case "atom":
		return "application/atom+xml"
	case "rss":
		return "application/rss+xml"
	case "yaml", "yml":
		return "application/yaml"
	case "wasm":
		return "application/wasm"
	case "pdf":
		return "application/pdf"
	case "zip":
		return "application/zip"
	case "gz", "tgz":
		return "application/gzip"
	case "svg":
		return "image/svg+xml"
	case "png":
		return "image/png"
	case "jpg", "jpeg":
		return "image/jpeg"
	case "gif":
		return "image/gif"
	case "webp":
		return "image/webp"
	case "avif":
		return "image/avif"
	case "ico":
		return "image/vnd.microsoft.icon"
	case "woff":
		return "font/woff"
	case "woff2":
		return "font/woff2"
	case "ttf":
		return "font/ttf"
	case "otf":
		return "font/otf"
	case "mp3":
		return "audio/mpeg"
	case "ogg":
		return "audio/ogg"
	case "wav":
		return "audio/wav"
	case "mp4":
		return "video/mp4"
	case "webm":
		return "video/webm"
	default:
		return "application/octet-stream"
	}
}
