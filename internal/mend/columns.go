package mend

import (
	"context"
	"math"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

const agentPath schema.Path = "agent_name"

// writeAnew writes the file anew as it is.
func (p *planner) writeAnew(_ context.Context, r *request) (string, error) {
	p.add(r, r.file, r.Path, planned{})
	return "", nil
}

// dropColumn drops the column of the finding.
func (p *planner) dropColumn(_ context.Context, r *request) (string, error) {
	t := transform.Drop{Paths: []schema.Path{r.Path}}
	if why := p.plans(r.file, t); why != "" {
		return why, nil
	}
	p.add(r, r.file, r.Path, t)
	return "", nil
}

// dropNull drops a column that no file of the dataset gives a type.
func (p *planner) dropNull(_ context.Context, r *request) (string, error) {
	t := transform.Drop{Paths: []schema.Path{r.Path}}
	var have []int
	for _, i := range r.whole {
		f, ok := p.files[i].Schema.Lookup(r.Path)
		if !ok {
			continue
		}
		if f.Type.Kind != schema.Null || p.plans(i, t) != "" {
			return "", nil
		}
		have = append(have, i)
	}
	for _, i := range have {
		p.add(r, i, r.Path, t)
	}
	return "", nil
}

// setAgent writes the agent where there is none.
func (p *planner) setAgent(_ context.Context, r *request) (string, error) {
	if p.job.Agent == "" {
		return "which agent loop is to run the rows is not in the data: say --agent NAME", nil
	}
	set := transform.Set{Path: agentPath, Value: schema.TextValue(p.job.Agent), Type: p.textType(r.whole, agentPath), After: "data_source", If: transform.Replace}
	if f, ok := p.files[r.file].Schema.Lookup(agentPath); ok && f.Type.Kind != schema.Null {
		if f.Type.Kind != schema.Text {
			return "agent_name is " + f.Type.String(), nil
		}
		set.Type, set.If = f.Type, transform.Fill
	}
	p.add(r, r.file, agentPath, set)
	return "", nil
}

// textType is the type that the column has in some file, as text; string where none has it.
func (p *planner) textType(files []int, path schema.Path) schema.Type {
	for _, i := range files {
		if f, ok := p.files[i].Schema.Lookup(path); ok && f.Type.Kind == schema.Text {
			return schema.Type{Kind: schema.Text, Form: f.Type.Form}
		}
	}
	return schema.StringType
}

// replaceAgent writes the agent where the one that is there is not known.
func (p *planner) replaceAgent(_ context.Context, r *request) (string, error) {
	if p.job.Agent == "" {
		return "which agent loop is meant is not in the data: say --agent NAME", nil
	}
	pass, _ := rule.NewPass(r.Rule, p.job.Env)
	known := r.mend.Known(pass)
	return p.texts(r, agentPath, func(s string) string {
		if known(s) || !utf8.ValidString(s) {
			return s
		}
		return p.job.Agent
	}), nil
}

// eachText makes each text of the column anew.
func (p *planner) eachText(_ context.Context, r *request) (string, error) {
	return p.texts(r, r.Path, r.mend.Text), nil
}

func (p *planner) texts(r *request, path schema.Path, each func(string) string) (why string) {
	if f, _ := p.files[r.file].Schema.Lookup(path); f.Type.Kind != schema.Text {
		return string(path) + " is " + f.Type.String()
	}
	p.add(r, r.file, path, over(path, transform.Put{Each: each}))
	return ""
}

// eachValue makes each value of a column anew.
func (p *planner) eachValue(_ context.Context, r *request) (string, error) {
	v := r.mend.Value
	f, ok := p.files[r.file].Schema.Lookup(v.Path)
	if !ok {
		f.Type = schema.Type{}
	}
	if p.files[r.file].Rows == 0 {
		return "the file has no rows", nil
	}
	to := schema.Type{Kind: schema.Text, Form: f.Type.Form}
	ok = f.Type.Kind == schema.Text
	if v.Type != nil {
		to, ok = v.Type(f.Type)
	}
	if !ok {
		return string(v.Path) + " is " + f.Type.String(), nil
	}
	if in, ok := p.files[r.file].Schema.Lookup(v.Path.Parent()); ok && in.Type.Kind != schema.Struct {
		return string(v.Path.Parent()) + " is " + in.Type.String(), nil
	}
	p.add(r, r.file, v.Path, computed{transform.Put{Path: v.Path, Type: to, If: transform.Replace}, v.Reads, v.New})
	return "", nil
}

// renameFields gives fields of a struct their other names; nothing is decoded.
func (p *planner) renameFields(_ context.Context, r *request) (string, error) {
	f, _ := p.files[r.file].Schema.Lookup(r.Path)
	if f.Type.Kind != schema.Struct {
		return string(r.Path) + " is " + f.Type.String(), nil
	}
	for _, names := range r.mend.Names {
		_, old := f.Type.Field(names[0])
		if _, now := f.Type.Field(names[1]); old >= 0 && now < 0 {
			p.add(r, r.file, r.Path, transform.Rename{From: r.Path.Field(names[0]), To: r.Path.Field(names[1])})
		}
	}
	return "", nil
}

// dropRows leaves out the rows that the rule finds.
func (p *planner) dropRows(_ context.Context, r *request) (string, error) {
	p.add(r, r.file, r.Path, dropper{r.Rule, p.job.Env, r.Path})
	return "", nil
}

// asText says of bytes that they are text.
func (p *planner) asText(ctx context.Context, r *request) (string, error) {
	why, err := p.notText(ctx, r.file, r.Path)
	if why != "" || err != nil {
		return why, err
	}
	p.add(r, r.file, r.Path, over(r.Path, transform.Put{As: schema.StringType}))
	return "", nil
}

// notText says why bytes are no text, "" where they are.
func (p *planner) notText(ctx context.Context, file int, path schema.Path) (why string, err error) {
	if f, _ := p.files[file].Schema.Lookup(path); f.Type.Kind != schema.Binary || f.Type.Form == schema.Fixed || f.Type.Name != "" {
		return string(path) + " is " + f.Type.String(), nil
	}
	err = p.scan(ctx, file, []schema.Path{path}, func(row schema.Row) {
		if !validText(row.At(0)) && why == "" {
			why = "some of its bytes are no UTF-8: " + row.Origin().String()
		}
	})
	return why, err
}

func validText(v schema.Value) bool {
	if v.Kind() != schema.List {
		return utf8.ValidString(v.Text())
	}
	for i := range v.Len() {
		if !validText(v.Elem(i)) {
			return false
		}
	}
	return true
}

// moveIndex moves the column index to where verl looks for it.
func (p *planner) moveIndex(_ context.Context, r *request) (string, error) {
	const from schema.Path = "index"
	t := transform.Copy{From: from, To: indexPath, If: transform.Fill}
	if why := p.plans(r.file, t); why != "" {
		return why, nil
	}
	p.add(r, r.file, indexPath, t)
	p.add(r, r.file, from, transform.Drop{Paths: []schema.Path{from}})
	return "", nil
}

// castIndex makes an index of floats one of integers, in all files of the dataset.
func (p *planner) castIndex(_ context.Context, r *request) (string, error) {
	var floats []int
	for _, i := range r.whole {
		switch f, _ := p.files[i].Schema.Lookup(indexPath); f.Type.Kind {
		case schema.Missing, schema.Null, schema.Int:
		case schema.Float:
			floats = append(floats, i)
		default:
			return "in " + p.files[i].Name + " it is " + f.Type.String(), nil
		}
	}
	for _, i := range floats {
		p.add(r, i, indexPath, computed{transform.Put{Path: indexPath, Type: schema.Int64Type, If: transform.Replace}, []schema.Path{indexPath}, wholeNumber})
	}
	return "", nil
}

// wholeNumber makes a float the integer that it is; NaN is what pandas has for none.
func wholeNumber(row schema.Row) (schema.Value, string) {
	switch v := row.At(0); {
	case v.Kind() != schema.Float || math.IsNaN(v.Float()):
		return schema.NullValue, ""
	case v.Float() != math.Trunc(v.Float()) || math.Abs(v.Float()) >= 1<<53:
		return schema.NullValue, v.Excerpt(40) + " is no integer"
	default:
		return schema.IntValue(int64(v.Float())), ""
	}
}
