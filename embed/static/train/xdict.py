"""Word-for-word English to Chinese dictionary from the CC-CEDICT and Chinese Open Wordnet pairs, for code switching -> xdict.bin"""
import re,subprocess,struct,collections
import numpy as np
voc='vocab.tsv'; cnt=[float(l.split('\t')[1]) for l in open(voc)]
nen=16500
pairs=[]
for l in open('ext/cedict.tsv'):
    a,b=l.rstrip('\n').split('\t')
    for d in b.split(' ; '):
        d=re.sub(r'\(.*?\)','',d).strip().lower(); d=re.sub(r'^(to|a|an|the|be) ','',d)
        if re.fullmatch(r'[a-z]+',d) and 1<=len(a)<=4: pairs.append((d,a))
for l in open('ext/cow.tsv'):
    a,b=l.rstrip('\n').split('\t'); d=b.split(',')[0].strip().lower()
    if re.fullmatch(r'[a-z]+',d) and 1<=len(a)<=4 and not re.search('[a-z]',a): pairs.append((d,a))
def enc(lines):
    p=subprocess.run(['./staticvec','enc',voc,'t2s.tsv'],input='\n'.join(lines).encode()+b'\n',capture_output=True); a=np.frombuffer(p.stdout,np.int32); out=[];i=0
    while i<len(a): n=a[i]; out.append(tuple(a[i+1:i+1+n])); i+=1+n
    return out
E=enc([p[0] for p in pairs]);Z=enc([p[1] for p in pairs])
D=collections.defaultdict(collections.Counter)
for e,z,(d,a) in zip(E,Z,pairs):
    if len(e)==1 and e[0]<nen and z and max(z)<29900 and len(z)<=9 and (len(a)==1 or any(t>=nen+3600 for t in z)): # the whole word is a vocabulary word
        w=[t for t in z if t>=nen+3600]; f=cnt[w[0]] if w else cnt[z[0]]*.1
        D[e[0]][z]+=np.sqrt(f)
n=0
with open('xdict.bin','wb') as f:
    for i in range(nen):
        t=D[i].most_common(4); f.write(struct.pack('<i',len(t))); n+=bool(t)
        for z,_ in t: f.write(struct.pack('<i',len(z))+struct.pack('<%di'%len(z),*z))
V=[l.split('\t')[0] for l in open(voc)]
print(n); 
for w in ('dog','doctor','sick','movi','happi','job','wed','citi'): print(w,[''.join(V[t] for t in z) for z,_ in D[V.index(w)].most_common(4)])
